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

    /// Appends what goes before `count` bytes of content, which must follow.
    ///
    /// `count` must not be zero: an empty chunk would end the body.
    func open(_ count: Int, in bytes: inout [UInt8]) {
        precondition(count > 0)
        guard self == .chunked else { return }
        bytes.appendHexadecimal(count)
        bytes.append(contentsOf: lineEnd)
    }

    /// Appends what goes behind the content.
    func close(in bytes: inout [UInt8]) {
        guard self == .chunked else { return }
        bytes.append(contentsOf: lineEnd)
    }
}

private let lineEnd: [UInt8] = [0x0D, 0x0A]
