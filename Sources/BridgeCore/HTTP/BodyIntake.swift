import WebSocketProtocol

/// Gathers a request's body within a limit.
///
/// A body whose length is announced is refused before it is read; of a chunked one that turns out too long up
/// to four times the limit is read and thrown away, so that a client that only reads answers after it has sent
/// everything gets one.
package struct BodyIntake: Equatable, Sendable {
    /// What to do after some bytes came.
    package enum Verdict: Equatable, Sendable {
        /// Go on reading.
        case proceed
        /// Answer in the middle of it, and close the connection.
        case close
    }

    /// In bytes.
    package let limit: Int
    /// What the client announced, in bytes, or 0.
    private var announced = 0
    private var bytes: [UInt8] = []
    private var isOverLimit = false
    /// What may still be thrown away before the connection is closed.
    private var patience: Int

    /// Makes ready for a body that is framed as `framing` says.
    ///
    /// Throws `message-too-large` (413, and the connection must be closed) for a length over the limit.
    package init(_ framing: RequestFraming, limit: Int) throws(Problem) {
        self.limit = limit
        patience = limit.multipliedReportingOverflow(by: 3).overflow ? .max : limit * 3
        guard case .length(let length) = framing else { return }
        guard length <= UInt64(max(limit, 0)) else {
            throw .messageTooLarge(limit: limit).closingConnection()
        }
        announced = Int(length)
    }

    /// The memory that a promise is worth.
    private static let mostPromised = 64 << 10

    /// What comes is not kept any more.
    package var discards: Bool { isOverLimit }

    /// Takes the next bytes, whose count is at hand at no cost.
    package mutating func receive(_ chunk: some Collection<UInt8>) -> Verdict {
        guard !isOverLimit, chunk.count <= limit - bytes.count else {
            let unread = isOverLimit ? chunk.count : chunk.count - (limit - bytes.count)
            isOverLimit = true
            bytes = []
            patience = unread > patience ? -1 : patience - unread
            return patience < 0 ? .close : .proceed
        }
        if bytes.isEmpty, chunk.count >= announced {
            bytes = Array(chunk)
        } else {
            if announced > 0 {
                bytes.makeRoom(for: chunk.count, of: announced, least: BodyIntake.mostPromised)
            }
            bytes.append(contentsOf: chunk)
        }
        return .proceed
    }

    /// The whole body, once all of it came.
    ///
    /// Throws `message-too-large` (413) if it was over the limit.
    package consuming func finish() throws(Problem) -> [UInt8] {
        guard !isOverLimit else { throw .messageTooLarge(limit: limit) }
        bytes.giveBackSpareRoom()
        return bytes
    }
}
