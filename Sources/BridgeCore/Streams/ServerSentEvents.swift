import WebSocketProtocol

/// Writes records as Server-Sent Events (WHATWG HTML §9.2), ready to go out on the connection.
///
/// Whatever a payload holds, it cannot add a field or an event: every line of it gets its own `data:`. CR and
/// CRLF become line ends, as the format has no other way.
package struct ServerSentEvents {
    package let framing: BodyFraming
    private let epoch: Epoch
    /// `id: EPOCH-`, which starts nearly every event.
    private let idField: [UInt8]

    package init(epoch: Epoch, framing: BodyFraming) {
        self.epoch = epoch
        self.framing = framing
        var field = [UInt8]("id: ".utf8)
        epoch.appendText(to: &field)
        field.append(UInt8(ascii: "-"))
        idField = field
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
        append(content: [UInt8]("retry: \(milliseconds)\n\n".utf8), to: &bytes)
    }

    /// A comment, which keeps the connection alive and shows the client nothing.
    package func appendKeepAlive(to bytes: inout [UInt8]) {
        append(content: [UInt8](":\n\n".utf8), to: &bytes)
    }

    /// Moves the client's `Last-Event-ID` without an event.
    package func appendPosition(_ sequence: UInt64, to bytes: inout [UInt8]) {
        var content = idField
        content.appendDecimal(sequence)
        content.append(contentsOf: blankLine)
        append(content: content, to: &bytes)
    }

    private func append(_ message: Message, sequence: UInt64, to bytes: inout [UInt8]) {
        switch message.kind {
        case .text:
            let lines = EventLines(message.bytes)
            open(sequence, rest: lines.encodedCount + 1, in: &bytes)
            lines.append(to: &bytes)
            bytes.append(newline)
        case .binary:
            let count = Base64.encodedCount(message.bytes.count)
            open(sequence, rest: binaryFields.count + count + blankLine.count, in: &bytes)
            bytes.append(contentsOf: binaryFields)
            Base64.append(message.bytes, to: &bytes)
            bytes.append(contentsOf: blankLine)
        }
        framing.close(in: &bytes)
    }

    /// Appends the chunk's head and the id line, which `rest` bytes must follow.
    private func open(_ sequence: UInt64, rest: Int, in bytes: inout [UInt8]) {
        framing.open(idField.count + sequence.decimalCount + 1 + rest, in: &bytes)
        bytes.append(contentsOf: idField)
        bytes.appendDecimal(sequence)
        bytes.append(newline)
    }

    /// `data` is JSON, which has no line end in it.
    private func append(event: StaticString, sequence: UInt64?, data: [UInt8], to bytes: inout [UInt8]) {
        var content: [UInt8] = []
        if let sequence {
            content += idField
            content.appendDecimal(sequence)
            content.append(newline)
        }
        content.append(contentsOf: "event: \(event)\ndata: ".utf8)
        content += data
        content += blankLine
        append(content: content, to: &bytes)
    }

    private func append(content: [UInt8], to bytes: inout [UInt8]) {
        framing.open(content.count, in: &bytes)
        bytes.append(contentsOf: content)
        framing.close(in: &bytes)
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
private let blankLine: [UInt8] = [newline, newline]
private let binaryFields = [UInt8]("event: binary\ndata: ".utf8)
