internal import WebSocketProtocol

/// Reads one HTTP/1.1 answer from bytes as they arrive (RFC 9112), for a request that is not HEAD.
///
/// A value without a socket. It keeps nothing of a body: what it has read is handed on at once.
package struct HTTPReplyReader: Sendable {
    /// A part of the answer, in the order in which they come.
    package enum Part: Equatable, Sendable {
        /// The final head; interim ones (1xx) are passed over.
        case head(HTTPReply)
        /// Some of the body, never empty.
        case body([UInt8])
        case end
    }

    private enum State: Sendable {
        case head(HTTPHeadReader)
        case length(Int)
        case chunks(ChunkedBody)
        case untilClosed
        case over
    }

    /// Of a head.
    private static let headLimit = 64 << 10

    private var state = State.head(HTTPReplyReader.newHead)
    /// Another request may be sent on the connection once the answer is over.
    package private(set) var keepsConnection = false

    package init() {}

    private static var newHead: HTTPHeadReader { HTTPHeadReader(limit: headLimit, prefix: "HTTP/1.") }

    /// Takes in what arrived.
    ///
    /// Bytes after the end are nobody's answer: they make the connection unfit for another request.
    package mutating func read(_ input: [UInt8]) throws(HTTPReplyFailure) -> [Part] {
        var parts: [Part] = []
        var offset = 0
        while offset < input.count {
            switch state {
            case .head(var reader):
                try readHead(&reader, input, &offset, &parts)
            case .length(let rest):
                let piece = Array(input[offset...].prefix(rest))
                offset += piece.count
                parts.append(.body(piece))
                if piece.count == rest { end(&parts) } else { state = .length(rest - piece.count) }
            case .chunks(var body):
                var piece: [UInt8] = []
                let isOver = try body.read(input, from: &offset, into: &piece)
                state = .chunks(body)
                if !piece.isEmpty { parts.append(.body(piece)) }
                if isOver { end(&parts) }
            case .untilClosed:
                parts.append(.body(Array(input[offset...])))
                offset = input.count
            case .over:
                keepsConnection = false
                offset = input.count
            }
        }
        return parts
    }

    /// The peer closed its side.
    package mutating func close() throws(HTTPReplyFailure) -> [Part] {
        keepsConnection = false
        switch state {
        case .untilClosed:
            state = .over
            return [.end]
        case .over: return []
        case .head, .length, .chunks: throw .cutOff
        }
    }

    private mutating func readHead(
        _ reader: inout HTTPHeadReader,
        _ input: [UInt8],
        _ offset: inout Int,
        _ parts: inout [Part]
    ) throws(HTTPReplyFailure) {
        let head: HTTPHead?
        do throws(HTTPHeadReader.Failure) {
            head = try reader.read(input.span, from: &offset)
        } catch {
            throw error == .tooLarge ? .tooLarge : .malformed
        }
        state = .head(reader)
        guard let head else { return }
        guard let reply = HTTPReply(head) else { throw .malformed }
        guard reply.status >= 200 else {
            // Nobody asked for another protocol.
            guard reply.status != 101 else { throw .malformed }
            state = .head(HTTPReplyReader.newHead)
            return
        }
        keepsConnection = HTTPReplyReader.keepsConnection(head)
        parts.append(.head(reply))
        try beginBody(reply, of: head, &parts)
    }

    /// RFC 9112 §6.3, for requests other than HEAD and CONNECT.
    private mutating func beginBody(
        _ reply: HTTPReply,
        of head: HTTPHead,
        _ parts: inout [Part]
    ) throws(HTTPReplyFailure) {
        let codings = head.values(of: "transfer-encoding")
        let lengths = head.values(of: "content-length")
        switch (codings.count, lengths.count) {
        case _ where reply.status == 204 || reply.status == 304:
            end(&parts)
        case (1, 0):
            guard codings[0].lowercased() == "chunked" else { throw .malformed }
            state = .chunks(ChunkedBody())
        case (0, 1):
            guard let length = Int(digits: lengths[0]) else { throw .malformed }
            if length == 0 { end(&parts) } else { state = .length(length) }
        case (0, 0):
            keepsConnection = false
            state = .untilClosed
        default:
            throw .malformed
        }
    }

    private mutating func end(_ parts: inout [Part]) {
        state = .over
        parts.append(.end)
    }

    private static func keepsConnection(_ head: HTTPHead) -> Bool {
        let options = head.values(of: "connection").flatMap { $0.lowercased().split(separator: ",") }
        return head.startLine.hasPrefix("HTTP/1.1 ")
            && !options.contains { $0.filter { $0 != " " && $0 != "\t" } == "close" }
    }
}
