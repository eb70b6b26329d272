/// The parts of Server-Sent Events (WHATWG HTML §9.2) that do not depend on what the data is.
struct EventFields: Sendable {
    let framing: BodyFraming
    /// `id: EPOCH-`, which starts nearly every event.
    private let idField: [UInt8]

    init(epoch: Epoch, framing: BodyFraming) {
        self.framing = framing
        idField = [UInt8]("id: \(epoch.text)-".utf8)
    }

    /// Appends an id line, unless there is no id, and `count` bytes that `write` appends, all in one frame.
    func appendEvent(
        _ sequence: UInt64?,
        rest count: Int,
        to bytes: inout [UInt8],
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        guard let sequence else { return framing.appendFrame(of: count, to: &bytes, write) }
        framing.appendFrame(of: idField.count + sequence.decimalCount + 1 + count, to: &bytes) { output in
            output.append(idField)
            output.appendDecimal(sequence)
            output.append(newline)
            write(&output)
        }
    }

    func append(_ text: String, to bytes: inout [UInt8]) {
        let content = [UInt8](text.utf8)
        framing.appendFrame(of: content.count, to: &bytes) { $0.append(content) }
    }
}

/// An encoder whose stream is `text/event-stream`.
protocol EventStreamEncoder: StreamEncoder {
    var fields: EventFields { get }
}

extension EventStreamEncoder {
    package func appendRetry(milliseconds: Int64, to bytes: inout [UInt8]) {
        fields.append("retry: \(milliseconds)\n\n", to: &bytes)
    }

    package func appendKeepAlive(to bytes: inout [UInt8]) {
        fields.append(":\n\n", to: &bytes)
    }

    package func appendPosition(_ sequence: UInt64, to bytes: inout [UInt8]) {
        fields.appendEvent(sequence, rest: 1, to: &bytes) { $0.append(newline) }
    }
}

private let newline = UInt8(ascii: "\n")
