import WebSocketProtocol

/// Writes records as Server-Sent Events whose data is the payload.
///
/// Whatever a payload holds, it cannot add a field or an event: every line of it gets its own `data:`. CR and
/// CRLF become line ends, as the format has no other way.
package struct ServerSentEvents: EventStreamEncoder {
    let fields: EventFields

    package init(epoch: Epoch, framing: BodyFraming) {
        fields = EventFields(epoch: epoch, framing: framing)
    }

    package func append(_ record: Record, of connection: String, to bytes: inout [UInt8]) {
        switch record.payload {
        case .message(let message):
            append(message, sequence: record.sequence, to: &bytes)
        case .status(let event):
            let data = StatusData.json(event, of: connection, at: record.time)
            append(event: "status", sequence: record.sequence, data: data, to: &bytes)
        }
    }

    package func appendSnapshot(
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    ) {
        let data = StatusData.snapshot(of: connection, at: time, members)
        append(event: "status", sequence: nil, data: data, to: &bytes)
    }

    package func append(_ gap: Gap, to bytes: inout [UInt8]) {
        var json = JSONWriter()
        json.object(gap.writeMembers)
        append(event: "gap", sequence: gap.id.sequence, data: json.bytes, to: &bytes)
    }

    private func append(_ message: Message, sequence: UInt64, to bytes: inout [UInt8]) {
        switch message.kind {
        case .text:
            let lines = EventLines(message.bytes)
            fields.appendEvent(sequence, rest: lines.encodedCount + 1, to: &bytes) { output in
                lines.append(to: &output)
                output.append(newline)
            }
        case .binary:
            let count = binaryFields.count + Base64.encodedCount(message.bytes.count) + 2
            fields.appendEvent(sequence, rest: count, to: &bytes) { output in
                output.append(binaryFields)
                Base64.append(message.bytes, to: &output)
                output.append(newline)
                output.append(newline)
            }
        }
    }

    /// `data` is JSON, which has no line end in it.
    private func append(event: String, sequence: UInt64?, data: [UInt8], to bytes: inout [UInt8]) {
        let rest = [UInt8]("event: \(event)\ndata: ".utf8) + data + [newline, newline]
        fields.appendEvent(sequence, rest: rest.count, to: &bytes) { $0.append(rest) }
    }
}

private let newline = UInt8(ascii: "\n")
private let binaryFields = [UInt8]("event: binary\ndata: ".utf8)
