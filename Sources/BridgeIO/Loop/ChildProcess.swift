internal import CUV
internal import Glibc

/// A program that was started, in a process group of its own, with nothing to read.
///
/// It lives until the program has ended, whoever lets go of it, so that no zombie is left.
@safe final class ChildProcess {
    enum Ending: Equatable {
        case exited(status: Int)
        case signalled(number: Int)
    }

    private let loop: Loop
    private let handle: Handle<uv_process_t>
    private var onEnd: (Ending) -> Void
    private var whileRunning: ChildProcess?

    /// Starts `command`, which is looked for in `PATH` if it has no slash, with our environment.
    ///
    /// `output` and `errors` are descriptors for it to write to, of which it gets copies. `onEnd` is called once, on a
    /// later turn, unless starting fails, which throws libuv's words.
    init(
        loop: Loop,
        _ command: [String],
        output: CInt,
        errors: CInt,
        onEnd: @escaping (Ending) -> Void
    ) throws(StartFailure) {
        self.loop = loop
        self.onEnd = onEnd
        var status: CInt = 0
        unsafe handle = Handle { process in
            status = unsafe ChildProcess.spawn(loop, process, command, output, errors)
            // A handle whose process did not start has to be closed like any other.
            return 0
        }
        guard status == 0 else { throw StartFailure(error: errorText(status)) }
        unsafe handle.attach(self)
        whileRunning = self
        loop.children.insert(unsafe handle.pointer.pointee.pid)
    }

    struct StartFailure: Error {
        let error: String
    }

    private static func spawn(
        _ loop: Loop,
        _ process: UnsafeMutablePointer<uv_process_t>,
        _ command: [String],
        _ output: CInt,
        _ errors: CInt
    ) -> CInt {
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        let channels = [(UV_IGNORE, CInt(-1)), (UV_INHERIT_FD, output), (UV_INHERIT_FD, errors)]
        var containers = unsafe channels.map { flags, descriptor in
            var container = unsafe uv_stdio_container_t()
            unsafe container.flags = flags
            unsafe container.data.fd = descriptor
            return unsafe container
        }
        return unsafe arguments.withUnsafeMutableBufferPointer { arguments in
            unsafe containers.withUnsafeMutableBufferPointer { containers in
                var options = unsafe uv_process_options_t()
                unsafe options.file = UnsafePointer(arguments[0])
                unsafe options.args = arguments.baseAddress
                unsafe options.stdio = containers.baseAddress
                unsafe options.stdio_count = CInt(containers.count)
                // A session and so a group of its own, which can be ended with all that it started.
                unsafe options.flags = CUnsignedInt(UV_PROCESS_DETACHED.rawValue)
                unsafe options.exit_cb = processEnded
                // Ours are marked already, but not those of every library.
                wsbridge_keep_from_programs(3)
                return unsafe uv_spawn(loop.pointer, process, &options)
            }
        }
    }

    /// Ends the program and what it started, unless it has ended; `onEnd` is not called any more.
    func kill() {
        onEnd = { _ in }
        guard whileRunning != nil else { return }
        // It was not waited for yet, so its number is nobody else's.
        unsafe Glibc.kill(-handle.pointer.pointee.pid, SIGKILL)
    }

    fileprivate func ended(_ ending: Ending) {
        loop.children.remove(unsafe handle.pointer.pointee.pid)
        let onEnd = onEnd
        self.onEnd = { _ in }
        whileRunning = nil
        onEnd(ending)
    }
}

private nonisolated func processEnded(
    _ process: UnsafeMutablePointer<uv_process_t>?,
    status: Int64,
    signal: CInt
) {
    guard let process = unsafe owner(of: process?.pointee.data, as: ChildProcess.self) else { return }
    let ending: ChildProcess.Ending =
        signal == 0 ? .exited(status: Int(status)) : .signalled(number: Int(signal))
    onLoop(with: (process, ending)) { $0.ended($1) }
}
