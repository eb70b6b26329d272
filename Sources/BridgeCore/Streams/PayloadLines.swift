import WebSocketProtocol

/// Writes the payloads alone, text as it is and binary in Base64, with a line feed after each.
///
/// It has no form for lifecycle events and gaps.
package struct PayloadLines: StreamEncoder {
    private let framing: BodyFraming

    package init(framing: BodyFraming) {
        self.framing = framing
    }

    package func append(_ record: Record, of connection: String, to bytes: inout [UInt8]) {
        guard case .message(let message) = record.payload else { return }
        switch message.kind {
        case .text:
            framing.appendFrame(of: message.bytes.count + 1, to: &bytes) { output in
                output.append(message.bytes)
                output.append(newline)
            }
        case .binary:
            framing.appendFrame(of: Base64.encodedCount(message.bytes.count) + 1, to: &bytes) { output in
                Base64.append(message.bytes, to: &output)
                output.append(newline)
            }
        }
    }

    package func append(_ gap: Gap, to bytes: inout [UInt8]) {}

    package func appendSnapshot(
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    ) {}
}

private let newline = UInt8(ascii: "\n")
