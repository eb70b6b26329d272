internal import WebSocketProtocol

/// The frames to one peer that are encoded and not yet written.
///
/// One value, so that a frame is one access to it.
struct OutgoingFrames {
    /// A buffer up to this size is always kept, one beyond the other is always given back.
    private static let keptBytes = 16 * 1024...1024 * 1024

    private var encoder: FrameEncoder
    private var random = SecureRandom()
    private(set) var bytes: [UInt8] = []
    private var clearedBytes = 0
    /// Frames are numbered from 1.
    private var marks = FrameMarks()

    init(_ encoder: FrameEncoder) {
        self.encoder = encoder
    }

    mutating func append(_ message: Message) -> UInt64 {
        encoder.append(message, to: &bytes, random: &random)
        return nextFrame()
    }

    mutating func appendPing(_ payload: [UInt8]) -> UInt64 {
        encoder.appendPing(payload, to: &bytes, random: &random)
        return nextFrame()
    }

    mutating func appendPong(_ payload: [UInt8]) -> UInt64 {
        encoder.appendPong(payload, to: &bytes, random: &random)
        return nextFrame()
    }

    mutating func appendClose(code: UInt16?, reason: String) -> UInt64 {
        encoder.appendClose(code: code, reason: reason, to: &bytes, random: &random)
        return nextFrame()
    }

    /// The bytes of all frames so far, those that were written included.
    var encodedBytes: Int { clearedBytes + bytes.count }

    /// Where the frames of `bytes` end; they belong to whoever writes them.
    mutating func takeMarks() -> FrameMarks { marks.take() }

    /// Forgets the bytes, which were handed on.
    ///
    /// A large buffer is kept while it is being filled, and given back at the first small flush, such as a
    /// heartbeat's.
    mutating func clear() {
        clearedBytes += bytes.count
        let capacity = bytes.capacity
        let isFilled = bytes.count >= capacity / 4 && capacity <= OutgoingFrames.keptBytes.upperBound
        bytes.removeAll(keepingCapacity: isFilled || capacity <= OutgoingFrames.keptBytes.lowerBound)
    }

    private mutating func nextFrame() -> UInt64 {
        marks.add(end: bytes.count)
        return marks.lastFrame
    }
}
