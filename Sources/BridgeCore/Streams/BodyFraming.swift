/// How the bytes of a stream are delimited inside the HTTP response.
package enum BodyFraming: Hashable, Sendable {
    /// As they are, to the end of the connection, or for a layer below that does the framing.
    case plain
    /// In chunks (RFC 9112 §7.1), each event in one.
    case chunked

    /// What ends the body.
    package var end: [UInt8] {
        switch self {
        case .plain: []
        case .chunked: [UInt8]("0\r\n\r\n".utf8)
        }
    }

    /// The room that `count` bytes of content take in the body; they are not zero.
    private func framedCount(_ count: Int) -> Int {
        switch self {
        case .plain: count
        case .chunked: count.hexadecimalCount + count + 4
        }
    }

    /// Appends `count` bytes that `write` appends, in one piece of the body; zero are none at all.
    func appendFrame(
        of count: Int,
        to bytes: inout [UInt8],
        _ write: (inout OutputSpan<UInt8>) -> Void
    ) {
        // An empty chunk would end the body.
        guard count > 0 else { return }
        bytes.append(addingCapacity: framedCount(count)) { output in
            open(count, in: &output)
            write(&output)
            close(in: &output)
        }
    }

    /// Appends what goes before `count` bytes of content, which must follow.
    private func open(_ count: Int, in output: inout OutputSpan<UInt8>) {
        guard self == .chunked else { return }
        output.appendHexadecimal(count)
        appendLineEnd(to: &output)
    }

    /// Appends what goes behind the content.
    private func close(in output: inout OutputSpan<UInt8>) {
        if self == .chunked { appendLineEnd(to: &output) }
    }

    private func appendLineEnd(to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\r"))
        output.append(UInt8(ascii: "\n"))
    }
}
