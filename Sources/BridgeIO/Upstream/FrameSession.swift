internal import WebSocketProtocol

/// The codec of one open connection, both ways.
final class FrameSession {
    var decoder: FrameDecoder
    var outgoing: OutgoingFrames

    init(compression: DeflateParameters?, maximumMessageBytes: Int) {
        decoder = FrameDecoder(
            role: .client,
            maximumMessageBytes: maximumMessageBytes,
            inflater: compression?.inflater(for: .client)
        )
        outgoing = OutgoingFrames(
            FrameEncoder(role: .client, deflater: compression?.deflater(for: .client))
        )
    }
}
