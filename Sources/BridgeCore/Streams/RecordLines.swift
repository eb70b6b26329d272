/// Writes a JSON record a line (newline-delimited JSON).
package struct RecordLines: StreamEncoder {
    private let epoch: Epoch
    private let framing: BodyFraming

    package init(epoch: Epoch, framing: BodyFraming) {
        self.epoch = epoch
        self.framing = framing
    }

    package func append(_ record: Record, of connection: String, to bytes: inout [UInt8]) {
        append(JSONRecord(record, of: connection, epoch: epoch), to: &bytes)
    }

    package func append(_ gap: Gap, to bytes: inout [UInt8]) {
        let line = JSONRecord.json(gap) + [newline]
        framing.appendFrame(of: line.count, to: &bytes) { $0.append(line) }
    }

    package func appendSnapshot(
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    ) {
        append(JSONRecord(snapshotOf: connection, at: time, members: members), to: &bytes)
    }

    private func append(_ record: JSONRecord, to bytes: inout [UInt8]) {
        framing.appendFrame(of: record.encodedCount + 1, to: &bytes) { output in
            record.append(to: &output)
            output.append(newline)
        }
    }
}

private let newline = UInt8(ascii: "\n")
