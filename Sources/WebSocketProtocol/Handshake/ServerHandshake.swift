/// The server's side of the opening handshake (RFC 6455 §4.2).
package struct ServerHandshake: Sendable {
    /// A valid request, as far as a server needs it.
    package struct Request: Equatable, Sendable {
        /// Path and query, verbatim.
        package var target: String
        package var key: String
        /// In the client's order of preference.
        package var subprotocols: [String]
        /// The first acceptable offer of permessage-deflate.
        package var compression: DeflateOffer?
        package var fields: [HTTPField]
    }

    private var head: HTTPHeadReader
    private let limit: Int

    package init(maximumHeadBytes: Int = 32 * 1024) {
        limit = maximumHeadBytes
        head = HTTPHeadReader(limit: maximumHeadBytes, prefix: "GET ")
    }

    /// Reads the request from `input`, from `offset` to the end of its head; nil when that is not there yet.
    ///
    /// What follows in `input` are the client's first frames.
    package mutating func read(
        _ input: Span<UInt8>,
        from offset: inout Int
    ) throws(HandshakeFailure) -> Request? {
        let request: HTTPHead?
        do throws(HTTPHeadReader.Failure) {
            request = try head.read(input, from: &offset)
        } catch {
            throw error == .tooLarge ? .headTooLarge(limit: limit) : .invalidRequest("not a GET of HTTP/1.1")
        }
        guard let request else { return nil }
        return try Request(request)
    }

    /// The answer that opens the connection; frames follow it.
    ///
    /// `accept` is the base64 of the SHA-1 of `ClientHandshake.acceptInput(for: request.key)`.
    package static func response(
        accept: String,
        subprotocol: String? = nil,
        compression: DeflateParameters? = nil
    ) -> [UInt8] {
        var lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(accept)",
        ]
        if let subprotocol { lines.append("Sec-WebSocket-Protocol: \(subprotocol)") }
        if let compression { lines.append("Sec-WebSocket-Extensions: \(compression.responseValue)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}

extension ServerHandshake.Request {
    fileprivate init(_ head: HTTPHead) throws(HandshakeFailure) {
        let line = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
        guard line.count == 3, line[2] == "HTTP/1.1", line[1].utf8.first == UInt8(ascii: "/") else {
            throw .invalidRequest("not a GET of HTTP/1.1")
        }
        guard head.onlyValue(of: "Host") != nil else { throw .invalidRequest("no Host") }
        guard head.list("Upgrade", contains: "websocket"), head.list("Connection", contains: "upgrade") else {
            throw .invalidRequest("no upgrade to WebSocket")
        }
        guard head.onlyValue(of: "Sec-WebSocket-Version") == "13" else {
            throw .invalidRequest("Sec-WebSocket-Version is not 13")
        }
        // 16 bytes are 22 characters and two of padding.
        guard let key = head.onlyValue(of: "Sec-WebSocket-Key"), key.utf8.count == 24, key.hasSuffix("==")
        else {
            throw .invalidRequest("invalid Sec-WebSocket-Key")
        }
        let offered = head.values(of: "Sec-WebSocket-Protocol")
            .flatMap { $0.split(separator: ",") }
            .map(\.withoutSurroundingSpace)
        guard offered.allSatisfy(\.isToken) else { throw .invalidRequest("invalid Sec-WebSocket-Protocol") }
        guard let extensions = Extension.list(head.values(of: "Sec-WebSocket-Extensions")) else {
            throw .invalidRequest("invalid Sec-WebSocket-Extensions")
        }
        self.init(
            target: String(line[1]),
            key: key,
            subprotocols: offered,
            compression: extensions.lazy.compactMap { DeflateOffer($0) }.first,
            fields: head.fields
        )
    }
}
