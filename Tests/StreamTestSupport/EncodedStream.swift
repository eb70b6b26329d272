package import BridgeCore
package import WebSocketProtocol

/// A stream of the encoder under test, with a log that makes its records.
package struct EncodedStream {
    private var log: EventLog
    private let connection: ConnectionIndex?
    private let encoder: any StreamEncoder
    package private(set) var bytes: [UInt8] = []

    /// The epoch is `00000000000a`, the connection's name `default`.
    package init(_ framing: BodyFraming = .plain, format: StreamFormat = .events, sequence: UInt64 = 1) {
        let epoch = Epoch(bits: 10)
        log = EventLog(epoch: epoch)
        connection = log.register("default", limits: HistoryLimits(maxMessages: 1))
        encoder = format.encoder(epoch: epoch, framing: framing)
        for _ in 1..<sequence { skip() }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func send(
        _ kind: Message.Kind,
        _ payload: some Sequence<UInt8>,
        direction: Record.Direction = .received,
        topic: String? = nil
    ) {
        record(.message(Message(kind, Array(payload))), direction, topic)
    }

    package mutating func send(_ event: Lifecycle) {
        record(.status(event))
    }

    package mutating func encode(_ write: (any StreamEncoder, inout [UInt8]) -> Void) {
        write(encoder, &bytes)
    }

    package mutating func skip() {
        if let connection {
            log.append(.status(.ready), of: connection, at: WallTime(millisecondsSince1970: 0))
        }
    }

    private mutating func record(
        _ payload: Record.Payload,
        _ direction: Record.Direction = .received,
        _ topic: String? = nil
    ) {
        guard let connection else { return }
        let time = WallTime(millisecondsSince1970: 1_796_025_120_123)
        let record = log.append(payload, of: connection, direction: direction, at: time, topic: topic)
        encoder.append(record, of: "default", to: &bytes)
    }
}
