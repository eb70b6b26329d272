/// Writes JSON records as the data of Server-Sent Events, all of the type `message`.
package struct ServerSentRecords: EventStreamEncoder {
    let fields: EventFields
    private let epoch: Epoch

    package init(epoch: Epoch, framing: BodyFraming) {
        fields = EventFields(epoch: epoch, framing: framing)
        self.epoch = epoch
    }

    package func append(_ record: Record, of connection: String, to bytes: inout [UInt8]) {
        let encoded = JSONRecord(record, of: connection, epoch: epoch)
        append(record.sequence, encoded.encodedCount, to: &bytes, encoded.append)
    }

    package func append(_ gap: Gap, to bytes: inout [UInt8]) {
        let json = JSONRecord.json(gap)
        append(gap.id.sequence, json.count, to: &bytes) { $0.append(json) }
    }

    package func appendSnapshot(
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    ) {
        let encoded = JSONRecord(snapshotOf: connection, at: time, members: members)
        append(nil, encoded.encodedCount, to: &bytes, encoded.append)
    }

    /// Appends an event whose data are `count` bytes that `write` appends.
    private func append(
        _ sequence: UInt64?,
        _ count: Int,
        to bytes: inout [UInt8],
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        fields.appendEvent(sequence, rest: dataField.count + count + 2, to: &bytes) { output in
            output.append(dataField)
            write(&output)
            output.append(newline)
            output.append(newline)
        }
    }
}

private let dataField = [UInt8]("data: ".utf8)
private let newline = UInt8(ascii: "\n")
