internal import BridgeCore
internal import Glibc

/// What the process asks of the machine that it runs on.
enum Machine {
    /// The names by which others may call this machine.
    static var names: [String] {
        var buffer = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return [] }
        return [String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)]
    }

    /// The folder that this program is in; nil where `/proc` does not say.
    static var executableFolder: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let path = buffer[..<count].map { UInt8(bitPattern: $0) }
        guard let end = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: path[..<end], as: UTF8.self)
    }

    /// Lets the process have as many descriptors as the system allows: each subscriber takes one.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// A peer that closes its socket must not end the process.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Sees to it that nothing which is opened later is taken for a standard stream.
    ///
    /// A process that is started without them would otherwise write its log into one of its own sockets.
    static func openStandardStreams() {
        while true {
            let descriptor = unsafe open("/dev/null", O_RDWR)
            guard descriptor >= 0, descriptor <= STDERR_FILENO else {
                close(descriptor)
                return
            }
        }
    }

    /// Ends the process at once.
    ///
    /// Not by `exit`, which waits for libuv's pool, and so for a name server that does not answer.
    static func exitNow(_ code: Int32) -> Never {
        _exit(code)
    }

    /// Writes lines to stderr.
    static func complain(_ text: String) {
        _ = write(text, to: STDERR_FILENO)
    }

    /// Returns whether all of it was taken; if not, `errno` says why.
    fileprivate static func write(_ text: String, to descriptor: Int32) -> Bool {
        write([UInt8]((text.hasSuffix("\n") ? text : text + "\n").utf8), to: descriptor)
    }

    fileprivate static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EAGAIN {
                _ = isReady(descriptor, for: POLLOUT)
                continue
            }
            guard count > 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }

    /// Waits until it is, if `timeout` is -1, or for so many milliseconds.
    private static func isReady(_ descriptor: Int32, for events: Int32, timeout: Int32 = -1) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe poll(&state, 1, timeout) > 0
    }
}

/// What commands need that read and write streams.
extension Machine {
    /// The descriptor of stdout.
    static var output: Int32 { STDOUT_FILENO }

    /// Writes lines to stdout; returns what a command that does nothing else ends with.
    static func say(_ text: String) -> ExitCode {
        write(text, to: STDOUT_FILENO) ? .clean : endOfOutput()
    }

    /// Writes to stdout; if it returns false, `endOfOutput()` is to be asked next.
    static func put(_ bytes: [UInt8]) -> Bool { write(bytes, to: STDOUT_FILENO) }

    /// What to end with after a write to stdout failed: nobody needs to read it, but a full disk is told.
    static func endOfOutput() -> ExitCode {
        let number = errno
        guard number != EPIPE else { return .clean }
        complain("wsbridge: the output cannot be written: \(reason(number))")
        return .streamUnusable
    }

    private static func reason(_ number: Int32) -> String {
        unsafe String(cString: strerror(number)).lowercased()
    }

    /// Why stdin cannot be read.
    struct InputFailure: Error {
        var reason: String
    }

    /// Waits for something on stdin; nil at its end.
    static func readInput() throws(InputFailure) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            if count < 0, errno == EAGAIN {
                _ = isReady(STDIN_FILENO, for: POLLIN)
            } else if count == 0 {
                return nil
            } else if errno != EINTR {
                throw InputFailure(reason: reason(errno))
            }
        }
    }

    /// Waits for so long; returns false, at once, if nobody reads stdout any more.
    static func pause(_ duration: Duration) -> Bool {
        !isReady(STDOUT_FILENO, for: 0, timeout: Int32(clamping: duration.milliseconds))
    }

    /// Ends the process with 1 if it is still there after so many seconds; for commands that have nothing to tidy up.
    static func endWhenTimeIsOver(seconds: UInt32) {
        signal(SIGALRM) { _ in
            let text: StaticString = "wsbridge: the bridge did not answer in time\n"
            _ = unsafe Glibc.write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ExitCode.refused.rawValue)
        }
        alarm(seconds)
    }

    /// From now on Ctrl-C, and SIGTERM, end the process with 0; only for commands that have nothing to tidy up.
    static func endCleanlyWhenInterrupted() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in _exit(0) }
        }
    }
}
