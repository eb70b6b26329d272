/// Remembers what the frames of one socket carried until the kernel took them.
///
/// Frames are numbered from 1 in the order in which they were sent.
package struct FrameLedger: Sendable {
    package enum Content: Equatable, Sendable {
        case message(MessageID)
        case own(ConnectionMachine.OwnFrame)
        /// A ping that is to prove what went before, which the machine knows nothing of.
        case probe
    }

    private var unwritten = Queue<(frame: UInt64, content: Content)>()

    package init() {}

    /// A frame was handed to the socket; its number must be above all before it.
    package mutating func sent(_ content: Content, frame: UInt64) {
        unwritten.append((frame, content))
    }

    /// The content of the oldest frame that was written now that all up to `frame` are; nil when none is left.
    package mutating func popWritten(through frame: UInt64) -> Content? {
        guard let oldest = unwritten.first, oldest.frame <= frame else { return nil }
        return unwritten.popFirst()?.content
    }
}
