package import BridgeCore
internal import Glibc

extension ConfigurationFiles {
    /// The files of this machine; reading one blocks.
    ///
    /// Pipes are read as well, so that a shell's `<(...)` can be given. One must have given its content within
    /// `patience`, which leaves time to be asked for a passphrase; the process that writes it must have come
    /// within a second.
    package nonisolated static func local(patience: Duration = .seconds(60)) -> ConfigurationFiles {
        ConfigurationFiles(
            read: { path, limit throws(Unreadable) in
                let file = try LocalFile(path)
                return try file.content(limit: limit, patience: patience)
            },
            parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
        )
    }
}

/// A file, or a pipe, that is open for reading.
nonisolated struct LocalFile: ~Copyable {
    private let descriptor: CInt
    private let isPipe: Bool

    /// How long a pipe may have nobody who writes to it.
    private static let patienceForWriter = Duration.seconds(1)

    /// Opens it, without waiting for whoever is to write to it.
    init(_ path: String) throws(ConfigurationFiles.Unreadable) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            isPipe = false
            throw .system(errno)
        }
        var status = stat()
        isPipe = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    deinit { close(descriptor) }

    func content(limit: Int, patience: Duration) throws(ConfigurationFiles.Unreadable) -> [UInt8] {
        let start = ContinuousClock.now
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                content += buffer[..<count]
                guard content.count <= limit else {
                    throw .init("it has more than \(ByteSize(bytes: limit).text)")
                }
            } else if count == 0 {
                guard isPipe, content.isEmpty else { return content }
                guard !isDeserted else { throw .init("it is a pipe that nothing came through") }
                guard start.duration(to: .now) < min(patience, LocalFile.patienceForWriter) else {
                    throw .init("it is a pipe that nobody writes to")
                }
                // A writer who opens it wakes nobody.
                _ = isReady(within: .milliseconds(10))
            } else if errno == EAGAIN {
                guard isReady(within: patience - start.duration(to: .now)) else {
                    throw .init("it is a pipe whose end did not come within \(patience.text)")
                }
            } else if errno != EINTR {
                throw .system(errno)
            }
        }
    }

    /// Waits until something can be read, or whoever wrote has left.
    private func isReady(within patience: Duration) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard patience > .zero else { return false }
        return unsafe poll(&state, 1, CInt(clamping: patience.milliseconds + 1)) > 0
    }

    /// Whoever wrote has left, and nothing is left to be read.
    private var isDeserted: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 1 && CInt(state.revents) & POLLIN == 0
    }
}

extension ConfigurationFiles.Unreadable {
    fileprivate nonisolated static func system(_ number: CInt) -> Self {
        let isMissing = number == ENOENT || number == ENOTDIR
        guard let text = unsafe strerror(number) else { return Self("error \(number)") }
        return Self(unsafe String(cString: text).lowercased(), isMissing: isMissing)
    }
}
