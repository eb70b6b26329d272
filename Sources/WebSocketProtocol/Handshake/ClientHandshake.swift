/// The client's side of the opening handshake (RFC 6455 §4.1): a request, and the check of its answer.
package struct ClientHandshake: Sendable {
    /// What to ask for.
    package struct Terms: Sendable {
        package var url: WebSocketURL
        /// Further fields; `Host`, `Authorization`, `Origin` and `Cookie` may be among them.
        package var fields: [HTTPField] = []
        /// In order of preference.
        package var subprotocols: [String] = []
        /// Whether an answer without a subprotocol is refused.
        package var requiresSubprotocol = false
        /// Nil: messages are not compressed.
        package var compression: DeflateOffer?

        package init(url: WebSocketURL) {
            self.url = url
        }
    }

    /// What the server agreed to.
    package struct Agreement: Equatable, Sendable {
        package var subprotocol: String?
        /// Nil: messages are not compressed.
        package var compression: DeflateParameters?

        package init(subprotocol: String? = nil, compression: DeflateParameters? = nil) {
            self.subprotocol = subprotocol
            self.compression = compression
        }
    }

    /// An answer whose head is longer is refused.
    package static let maximumHeadBytes = 32 * 1024

    /// The request, to be sent as it is.
    package let request: [UInt8]

    /// What the upstream says to a status other than 101, once that was thrown.
    package private(set) var excerpt: AnswerExcerpt?

    private let terms: Terms
    private let accept: String
    private let mask: SecretMask
    private var head = ClientHandshake.reader(limit: ClientHandshake.maximumHeadBytes)
    private var headBytes = 0

    /// Makes the request, or says which setting cannot go into one.
    ///
    /// `key` is the base64 of 16 unpredictable bytes and `accept` that of the SHA-1 of `acceptInput(for: key)`;
    /// `authorization` is what the URL's credentials come to, and a field of that name in the terms wins.
    package init(
        _ terms: Terms,
        key: String,
        accept: String,
        authorization: String? = nil
    ) throws(HandshakeRequestError) {
        self.terms = terms
        self.accept = accept
        mask = terms.mask(authorization: authorization)
        request = try terms.request(key: key, authorization: authorization)
    }

    /// What the server hashes to prove that it read the key (§4.2.2).
    package static func acceptInput(for key: String) -> [UInt8] {
        Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    }

    /// Reads the answer from `input`, from `offset` to the end of its head; nil when that is not there yet.
    ///
    /// What follows in `input` are the server's first frames. Interim answers (1xx) are skipped.
    package mutating func read(
        _ input: Span<UInt8>,
        from offset: inout Int
    ) throws(HandshakeFailure) -> Agreement? {
        while true {
            let start = offset
            let answer: HTTPHead?
            do throws(HTTPHeadReader.Failure) {
                answer = try head.read(input, from: &offset)
            } catch {
                throw error == .tooLarge ? .headTooLarge(limit: ClientHandshake.maximumHeadBytes) : .notHTTP
            }
            headBytes += offset - start
            guard let answer else { return nil }
            guard try isInterim(answer) else { return try agreement(of: answer) }
            head = ClientHandshake.reader(limit: ClientHandshake.maximumHeadBytes - headBytes)
        }
    }

    private mutating func agreement(of answer: HTTPHead) throws(HandshakeFailure) -> Agreement {
        if answer.status != 101 { excerpt = AnswerExcerpt(of: answer, mask: mask) }
        return try terms.agreement(of: answer, accept: accept)
    }

    private static func reader(limit: Int) -> HTTPHeadReader {
        HTTPHeadReader(limit: limit, prefix: "HTTP/1.")
    }

    private func isInterim(_ answer: HTTPHead) throws(HandshakeFailure) -> Bool {
        guard let status = answer.status else { throw .notHTTP }
        return (100...199).contains(status) && status != 101
    }
}

// MARK: - The request

extension ClientHandshake.Terms {
    /// Fields that a setting must not touch: they are the handshake, or would give the request a body.
    private static let reserved = [
        "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
        "Sec-WebSocket-Extensions", "Sec-WebSocket-Accept", "Content-Length", "Transfer-Encoding", "TE",
        "Trailer",
    ]

    fileprivate func request(key: String, authorization: String?) throws(HandshakeRequestError) -> [UInt8] {
        try check()
        var lines = ["GET \(url.target) HTTP/1.1"]
        func add(_ name: String, _ value: String?) {
            guard let value, !fields.contains(where: { $0.isNamed(name) }) else { return }
            lines.append("\(name): \(value)")
        }
        add("Host", url.hostField)
        add("Upgrade", "websocket")
        add("Connection", "Upgrade")
        add("Sec-WebSocket-Key", key)
        add("Sec-WebSocket-Version", "13")
        add("Sec-WebSocket-Protocol", subprotocols.isEmpty ? nil : subprotocols.joined(separator: ", "))
        add("Sec-WebSocket-Extensions", compression?.requestValue)
        add("Authorization", authorization)
        for field in fields { lines.append("\(field.name): \(field.value)") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Says whether a handshake may have the field among its own.
    package static func check(_ field: HTTPField) throws(HandshakeRequestError) {
        guard field.name.isToken else { throw .invalidFieldName }
        guard field.hasValidValue else { throw .invalidFieldValue(name: field.name) }
        guard !reserved.contains(where: { field.isNamed($0) }) else {
            throw .reservedField(name: field.name)
        }
    }

    private func check() throws(HandshakeRequestError) {
        for field in fields { try Self.check(field) }
        guard subprotocols.allSatisfy(\.isToken), Set(subprotocols).count == subprotocols.count else {
            throw .invalidSubprotocol
        }
    }
}

// MARK: - The answer

extension ClientHandshake.Terms {
    fileprivate func agreement(
        of answer: HTTPHead,
        accept: String
    ) throws(HandshakeFailure) -> ClientHandshake.Agreement {
        guard let status = answer.status else { throw .notHTTP }
        guard !RedirectAnswer.statuses.contains(status) else {
            throw .redirect(RedirectAnswer(status: status, location: answer.onlyValue(of: "Location")))
        }
        guard status == 101 else { throw .status(status, retryAfter: answer.retryAfter) }
        guard answer.startLine.hasPrefix("HTTP/1.1 ") else { throw .notHTTP }
        guard answer.onlyValue(of: "Upgrade")?.lowercasedASCII == "websocket",
            answer.list("Connection", contains: "upgrade")
        else { throw .notUpgraded }
        guard answer.onlyValue(of: "Sec-WebSocket-Accept") == accept else { throw .wrongAccept }
        return ClientHandshake.Agreement(
            subprotocol: try subprotocol(of: answer),
            compression: try compression(of: answer)
        )
    }

    private func subprotocol(of answer: HTTPHead) throws(HandshakeFailure) -> String? {
        let chosen = answer.values(of: "Sec-WebSocket-Protocol")
        guard let subprotocol = chosen.first else {
            guard !requiresSubprotocol else { throw .subprotocolMissing }
            return nil
        }
        guard chosen.count == 1, subprotocols.contains(subprotocol) else { throw .subprotocolNotOffered }
        return subprotocol
    }

    private func compression(of answer: HTTPHead) throws(HandshakeFailure) -> DeflateParameters? {
        guard let chosen = Extension.list(answer.values(of: "Sec-WebSocket-Extensions")) else {
            throw .extensionNotOffered
        }
        guard let first = chosen.first else { return nil }
        guard let offer = compression, chosen.count == 1, first.name == DeflateOffer.name else {
            throw .extensionNotOffered
        }
        guard let parameters = offer.parameters(of: first) else { throw .invalidCompression }
        return parameters
    }
}

extension HTTPHead {
    /// The status of a response: three digits after the version.
    package var status: Int? {
        let parts = startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == "HTTP/1.1".utf8.count, parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let status = Int(parts[1]), status >= 100
        else { return nil }
        return status
    }
}
