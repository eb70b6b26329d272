import WebSocketProtocol

/// A record as one JSON object on one line, which loses nothing of it.
struct JSONRecord {
    private enum Data {
        case text(JSONText)
        case binary([UInt8])
        case object([UInt8])

        var encodedCount: Int {
            switch self {
            case .text(let text): text.encodedCount
            case .binary(let payload): Base64.encodedCount(payload.count) + 2
            case .object(let json): json.count
            }
        }
    }

    /// All that comes before the data, which is the last member.
    private let head: [UInt8]
    private let data: Data

    init(_ record: Record, of connection: String, epoch: Epoch) {
        let type: String
        switch record.payload {
        case .message(let message):
            switch message.kind {
            case .text:
                type = "text"
                data = .text(JSONText(message.bytes))
            case .binary:
                type = "binary"
                data = .binary(message.bytes)
            }
        case .status(let event):
            type = "status"
            data = .object(StatusData.json(event, of: connection, at: record.time))
        }
        head = JSONRecord.head(
            id: EventID(epoch: epoch, sequence: record.sequence),
            connection: connection,
            time: record.time,
            direction: record.direction,
            type: type,
            topic: record.shownTopic
        )
    }

    /// The snapshot that starts a stream, which has no id.
    init(snapshotOf connection: String, at time: WallTime, members: (inout JSONWriter) -> Void) {
        head = JSONRecord.head(
            id: nil,
            connection: connection,
            time: time,
            direction: .received,
            type: "status",
            topic: nil
        )
        data = .object(StatusData.snapshot(of: connection, at: time, members))
    }

    /// A gap, which belongs to no connection.
    static func json(_ gap: Gap) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("id", gap.id.text)
            json.member("type", "gap")
            gap.writeMembers(to: &json)
        }
        return json.bytes
    }

    /// The number of bytes that `append` appends.
    var encodedCount: Int { head.count + data.encodedCount + 1 }

    func append(to output: inout OutputSpan<UInt8>) {
        output.append(head)
        switch data {
        case .text(let text):
            text.append(to: &output)
        case .binary(let payload):
            output.append(UInt8(ascii: "\""))
            Base64.append(payload, to: &output)
            output.append(UInt8(ascii: "\""))
        case .object(let json):
            output.append(json)
        }
        output.append(UInt8(ascii: "}"))
    }

    private static func head(
        id: EventID?,
        connection: String,
        time: WallTime,
        direction: Record.Direction,
        type: String,
        topic: String?
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("id", id?.text)
            json.member("connection", connection)
            json.member("time", time.text)
            json.member("direction", direction.rawValue)
            json.member("type", type)
            json.member("topic", topic)
            json.member("data", json: [])
        }
        return json.bytes.dropLast()
    }
}

extension JSONWriter {
    /// An element that is the JSON record of `record`.
    package mutating func element(_ record: Record, of connection: String, epoch: Epoch) {
        let encoded = JSONRecord(record, of: connection, epoch: epoch)
        encodedElement { bytes in
            bytes.append(addingCapacity: encoded.encodedCount, initializingWith: encoded.append)
        }
    }
}
