import WebSocketProtocol

/// Writes records as Server-Sent Events (WHATWG HTML §9.2), ready to go out on the connection.
///
/// Whatever a payload holds, it cannot add a field or an event: every line of it gets its own `data:`. CR and
/// CRLF become line ends, as the format has no other way.
package struct ServerSentEvents {
    package let framing: BodyFraming
    /// `id: EPOCH-`, which starts nearly every event.
    private let idField: [UInt8]

    package init(epoch: Epoch, framing: BodyFraming) {
        self.framing = framing
        idField = [UInt8]("id: \(epoch.text)-".utf8)
    }

    /// A record of the log; `connection` is the name of its connection.
    package func append(_ record: Record, of connection: String, to bytes: inout [UInt8]) {
        switch record.payload {
        case .message(let message):
            append(message, sequence: record.sequence, to: &bytes)
        case .status(let event):
            let data = ServerSentEvents.status(of: connection, type: event.name, at: record.time) { json in
                event.writeMembers(to: &json)
            }
            append(event: "status", sequence: record.sequence, data: data, to: &bytes)
        }
    }

    /// A status event that is not a record, like the snapshot which starts a stream: it has no id.
    package func appendStatus(
        _ type: String,
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    ) {
        let data = ServerSentEvents.status(of: connection, type: type, at: time, members)
        append(event: "status", sequence: nil, data: data, to: &bytes)
    }

    package func append(_ gap: Gap, to bytes: inout [UInt8]) {
        var json = JSONWriter()
        json.object { json in
            json.member("missed", ifPresent: gap.missed)
            json.member("oldest", gap.oldest?.text)
        }
        append(event: "gap", sequence: gap.id.sequence, data: json.bytes, to: &bytes)
    }

    /// Tells the client how long to wait before it comes back.
    package func appendRetry(milliseconds: Int64, to bytes: inout [UInt8]) {
        append("retry: \(milliseconds)\n\n", to: &bytes)
    }

    /// A comment, which keeps the connection alive and shows the client nothing.
    package func appendKeepAlive(to bytes: inout [UInt8]) {
        append(":\n\n", to: &bytes)
    }

    /// Moves the client's `Last-Event-ID` without an event.
    package func appendPosition(_ sequence: UInt64, to bytes: inout [UInt8]) {
        appendEvent(sequence, rest: 1, to: &bytes) { $0.append(newline) }
    }

    private func append(_ message: Message, sequence: UInt64, to bytes: inout [UInt8]) {
        switch message.kind {
        case .text:
            let lines = EventLines(message.bytes)
            appendEvent(sequence, rest: lines.encodedCount + 1, to: &bytes) { output in
                lines.append(to: &output)
                output.append(newline)
            }
        case .binary:
            let count = binaryFields.count + Base64.encodedCount(message.bytes.count) + 2
            appendEvent(sequence, rest: count, to: &bytes) { output in
                output.append(binaryFields)
                Base64.append(message.bytes, to: &output)
                output.append(newline)
                output.append(newline)
            }
        }
    }

    /// Appends an id line and `count` bytes that `write` appends, all in one frame.
    private func appendEvent(
        _ sequence: UInt64,
        rest count: Int,
        to bytes: inout [UInt8],
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        appendFrame(of: idField.count + sequence.decimalCount + 1 + count, to: &bytes) { output in
            output.append(idField)
            output.appendDecimal(sequence)
            output.append(newline)
            write(&output)
        }
    }

    /// Appends `count` bytes that `write` appends, as one frame.
    private func appendFrame(
        of count: Int,
        to bytes: inout [UInt8],
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        bytes.append(addingCapacity: framing.framedCount(count)) { output in
            framing.open(count, in: &output)
            write(&output)
            framing.close(in: &output)
        }
    }

    /// `data` is JSON, which has no line end in it.
    private func append(event: String, sequence: UInt64?, data: [UInt8], to bytes: inout [UInt8]) {
        let fields = [UInt8]("event: \(event)\ndata: ".utf8) + data + [newline, newline]
        if let sequence {
            appendEvent(sequence, rest: fields.count, to: &bytes) { $0.append(fields) }
        } else {
            appendFrame(of: fields.count, to: &bytes) { $0.append(fields) }
        }
    }

    private func append(_ text: String, to bytes: inout [UInt8]) {
        let content = [UInt8](text.utf8)
        appendFrame(of: content.count, to: &bytes) { $0.append(content) }
    }

    private static func status(
        of connection: String,
        type: String,
        at time: WallTime,
        _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("type", type)
            json.member("connection", connection)
            json.member("time", time.text)
            members(&json)
        }
        return json.bytes
    }
}

private let newline = UInt8(ascii: "\n")
private let binaryFields = [UInt8]("event: binary\ndata: ".utf8)
