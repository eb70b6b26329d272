internal import WebSocketProtocol

/// The codec of one open connection, both ways, with the frames that are encoded and not yet written.
final class FrameSession {
    /// A buffer up to this size is always kept, one beyond the other is always given back.
    private static let keptBytes = 16 * 1024...1024 * 1024

    var decoder: FrameDecoder
    private var encoder: FrameEncoder
    private var random = SecureRandom()
    private(set) var output: [UInt8] = []
    private var clearedBytes = 0
    /// Frames are numbered from 1.
    private var marks = FrameMarks()

    init(compression: DeflateParameters?, maximumMessageBytes: Int) {
        decoder = FrameDecoder(
            role: .client,
            maximumMessageBytes: maximumMessageBytes,
            inflater: compression?.inflater(for: .client)
        )
        encoder = FrameEncoder(role: .client, deflater: compression?.deflater(for: .client))
    }

    func append(_ message: Message) -> UInt64 {
        encoder.append(message, to: &output, random: &random)
        return nextFrame()
    }

    func appendPing(_ payload: [UInt8]) -> UInt64 {
        encoder.appendPing(payload, to: &output, random: &random)
        return nextFrame()
    }

    func appendPong(_ payload: [UInt8]) -> UInt64 {
        encoder.appendPong(payload, to: &output, random: &random)
        return nextFrame()
    }

    func appendClose(code: UInt16?, reason: String) -> UInt64 {
        encoder.appendClose(code: code, reason: reason, to: &output, random: &random)
        return nextFrame()
    }

    /// The bytes of all frames so far.
    var encodedBytes: Int { clearedBytes + output.count }

    /// Where the frames of the output end; they belong to whoever writes it.
    func takeMarks() -> FrameMarks { marks.take() }

    /// Forgets the output, which was handed on.
    ///
    /// A large buffer is kept while it is being filled, and given back at the first small flush, such as a
    /// heartbeat's.
    func clearOutput() {
        clearedBytes += output.count
        let capacity = output.capacity
        let isFilled = output.count >= capacity / 4 && capacity <= FrameSession.keptBytes.upperBound
        output.removeAll(keepingCapacity: isFilled || capacity <= FrameSession.keptBytes.lowerBound)
    }

    private func nextFrame() -> UInt64 {
        marks.add(end: output.count)
        return marks.lastFrame
    }
}
