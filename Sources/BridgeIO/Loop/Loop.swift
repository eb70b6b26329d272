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
    /// How long it was busy at a time.
    package private(set) var turns = Histogram(.turn)
    private var lastTurn: (end: Instant, idle: UInt64)

    package init() {
        // Before the pool starts. libuv lets slow questions, such as those to a name server that does not answer, have
        // half of the threads: with its four, two such names would keep all others waiting.
        unsafe setenv("UV_THREADPOOL_SIZE", "16", 0)
        unsafe pointer = .allocate(capacity: 1)
        lastTurn = (Instant(nanoseconds: Int64(clamping: uv_hrtime())), 0)
        let count = Int(Loop.readBufferBytes)
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        unsafe memory.initialize(repeating: 0)
        unsafe readBuffer = UnsafeBufferPointer(memory)
        let status = unsafe uv_loop_init(pointer)
        precondition(status == 0, "libuv cannot make a loop: \(errorText(status))")
        // A version of libuv that cannot would count waiting as being busy, and is older than those that are asked for.
        unsafe wsbridge_measure_idle_time(pointer)
        // Where the callback that lends the buffer finds it.
        unsafe pointer.pointee.data = UnsafeMutableRawPointer(memory.baseAddress)
    }

    nonisolated static let readBufferBytes: CUnsignedInt = 64 * 1024

    /// The monotonic clock, read anew at each call.
    package var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    /// The time of day, for people and records.
    package var wallTime: WallTime { .now }

    /// Takes note of how long the turn was; to be called in each turn, just before the loop waits.
    package func turnEnds() {
        let end = now
        let idle = unsafe uv_metrics_idle_time(pointer)
        let waited = Int64(clamping: idle &- lastTurn.idle)
        turns.observe(end.nanoseconds &- lastTurn.end.nanoseconds &- waited)
        lastTurn = (end, idle)
    }

    /// Runs until `stop()`, or until no handle is active.
    package func run() {
        // What came before, such as reading the configuration, kept nobody waiting.
        lastTurn.end = now
        unsafe uv_run(pointer, UV_RUN_DEFAULT)
    }

    /// Makes `run()` return at the end of this turn.
    package func stop() {
        unsafe uv_stop(pointer)
    }
}
