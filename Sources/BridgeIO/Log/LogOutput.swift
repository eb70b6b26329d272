internal import Glibc

/// Writes lines to a descriptor that may be slow, full or gone, and that other processes share.
///
/// Makes it neither non-blocking, which would hold for those others as well, nor waits for it: what it cannot
/// take now is dropped. The process must ignore SIGPIPE.
final class LogOutput {
    /// What a pipe takes without blocking once it is ready (Linux: PIPE_BUF, a page).
    private static let longestWrite = 4096
    private static let lineFeed = UInt8(ascii: "\n")

    /// Nil when it was closed at the start, so that its number may come to belong to something else.
    private let descriptor: Int32?
    private var lastByte = LogOutput.lineFeed

    init(descriptor: Int32) {
        self.descriptor = fcntl(descriptor, F_GETFD) == -1 ? nil : descriptor
    }

    /// Writes a line, with its line feed, in one system call unless it is longer than 4096 bytes.
    ///
    /// - Returns: whether all of it went out. After a part, the next line begins on a line of its own.
    func write(_ line: [UInt8]) -> Bool {
        guard let descriptor else { return false }
        var rest = (lastByte == LogOutput.lineFeed ? line : [LogOutput.lineFeed] + line)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(LogOutput.longestWrite)
            guard isReady(descriptor), let count = write(piece, to: descriptor) else { return false }
            guard count > 0 else { return false }
            lastByte = piece[piece.startIndex + count - 1]
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether a write would neither block nor fail for want of a reader.
    private func isReady(_ descriptor: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let status = unsafe poll(&question, 1, 0)
            guard status == -1, errno == EINTR else { return question.revents == Int16(POLLOUT) }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int? {
        while true {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            guard errno == EINTR else { return nil }
        }
    }
}
