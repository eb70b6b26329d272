package import BridgeCore
internal import CUV
internal import Glibc

/// The event loop of the process: libuv on the main thread.
///
/// Everything that is hot runs here. The compiler proves it: whatever this module does is isolated to the main
/// actor, and libuv's callbacks enter it once each. There is one, and it lives as long as the process.
@safe package final class Loop {
    let pointer: UnsafeMutablePointer<uv_loop_t>
    /// Where every stream of the loop reads into: what came in is handled before the next read.
    let readBuffer: UnsafeBufferPointer<UInt8>
    /// The programs that it has started and that have not ended.
    var children: Set<pid_t> = []

    package init() {
        // Before the pool starts. libuv lets slow questions, such as those to a name server that does not answer, have
        // half of the threads: with its four, two such names would keep all others waiting.
        unsafe setenv("UV_THREADPOOL_SIZE", "16", 0)
        unsafe pointer = .allocate(capacity: 1)
        let count = Int(Loop.readBufferBytes)
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        unsafe memory.initialize(repeating: 0)
        unsafe readBuffer = UnsafeBufferPointer(memory)
        let status = unsafe uv_loop_init(pointer)
        precondition(status == 0, "libuv cannot make a loop: \(errorText(status))")
        // Where the callback that lends the buffer finds it.
        unsafe pointer.pointee.data = UnsafeMutableRawPointer(memory.baseAddress)
    }

    nonisolated static let readBufferBytes: CUnsignedInt = 64 * 1024

    /// The monotonic clock, read anew at each call.
    package var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// The time of day, for people and records.
    package var wallTime: WallTime { .now }

    /// Runs until `stop()`, or until no handle is active.
    package func run() {
        unsafe uv_run(pointer, UV_RUN_DEFAULT)
    }

    /// Makes `run()` return at the end of this turn.
    package func stop() {
        unsafe uv_stop(pointer)
    }
}
