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

    /// Writes lines to stdout.
    static func say(_ text: String) {
        write(text, to: STDOUT_FILENO)
    }

    /// Writes lines to stderr.
    static func complain(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = [UInt8]((text.hasSuffix("\n") ? text : text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(count, 0))
        }
    }
}
