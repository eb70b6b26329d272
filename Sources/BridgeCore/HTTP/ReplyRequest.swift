package import WebSocketProtocol

/// What `POST .../request` asks for, the bytes of its body aside.
package struct ReplyRequest: Equatable, Sendable {
    package var kind: Message.Kind
    /// How the reply is found; nil: as the connection's settings say.
    package var correlation: Choice?
    /// How long to wait for the reply.
    package var timeout = Duration.seconds(10)

    package enum Choice: Equatable, Sendable {
        case next
        case member(JSONPointer)
    }

    private static let longest = Duration.seconds(300)

    /// Reads the query and the header fields.
    ///
    /// Throws `invalid-parameter` (400) or `unsupported-media-type` (415).
    init(_ query: [QueryPair], _ head: RequestHead) throws(Problem) {
        let parameters = try QueryParameters(query, known: ["type", "correlate", "timeout"])
        switch try SendRequest.form(parameters["type"], head) {
        case .message(let kind): self.kind = kind
        case .lines:
            throw Problem(
                .unsupportedMediaType,
                "a request is one message: send lines to .../messages, or one with another Content-Type"
            )
        }
        if kind == .text { try TextCoding.check(head) }
        guard head.values(of: "idempotency-key").isEmpty else {
            throw .invalidParameter(
                "Idempotency-Key",
                "a request is sent each time it is asked for, so its repeats cannot be told; .../messages takes keys"
            )
        }
        correlation = try parameters["correlate"].map(ReplyRequest.choice)
        if let text = parameters["timeout"] { timeout = try ReplyRequest.timeout(text) }
    }

    private static func choice(_ text: String) throws(Problem) -> Choice {
        if text == "next" { return .next }
        guard text.utf8.first == UInt8(ascii: "/"), let pointer = JSONPointer(text) else {
            throw .invalidParameter("correlate", "it must be a JSON pointer such as /id, or `next`")
        }
        return .member(pointer)
    }

    private static func timeout(_ text: String) throws(Problem) -> Duration {
        guard let timeout = try? Duration(text: text), timeout > .zero, timeout <= longest else {
            throw .invalidParameter(
                "timeout",
                "it must be a duration such as 10s, of at most \(longest.text)"
            )
        }
        return timeout
    }

    /// How the reply to this message is found on a connection with these settings.
    ///
    /// Throws `invalid-parameter` (400) if nobody says, and `invalid-body` (400) if the message has no value to tell its
    /// reply by, and no room for one.
    package func correlation(
        of message: Message,
        _ settings: RequestSettings
    ) throws(Problem) -> Correlation {
        let pointer: JSONPointer
        switch (correlation, settings.correlate) {
        case (.next, _): return .next
        case (.member(let asked), _): pointer = asked
        case (nil, let standard?): pointer = standard
        case (nil, nil):
            throw .invalidParameter(
                "correlate",
                "it must be given, as a JSON pointer such as /id or `next`, where the connection has no `request.correlate`"
            )
        }
        guard let place = message.correlationPlace(at: pointer) else { throw .noCorrelation(pointer) }
        return .member(place, settings.id)
    }
}

extension HTTPResponse {
    /// A reply, as it came; with the id of its record, if it is one.
    package init(reply: Message, id: EventID?) {
        let type =
            switch reply.kind {
            case .binary: "application/octet-stream"
            case .text: JSONSearch.isJSON(reply.bytes.span) ? "application/json" : "text/plain; charset=utf-8"
            }
        var fields = [HTTPField("Content-Type", type)]
        if let id { fields.append(HTTPField("Wsbridge-Event-Id", id.text)) }
        self.init(status: 200, fields: fields)
        body = reply.bytes
    }
}

extension Problem {
    /// The body has no value to tell its reply by, and cannot be given one.
    package static func noCorrelation(_ pointer: JSONPointer) -> Problem {
        Problem(
            .invalidBody,
            "the reply is found by the value at `\(quotable(pointer.text))`: the body must be a JSON object with a string, "
                + "number or truth value there, or room for one; or ask with correlate=next"
        )
    }

    /// No reply came in time.
    package static func replyTimeout(_ timeout: Duration) -> Problem {
        Problem(.replyTimeout, "no reply came within \(timeout.text)")
    }

    /// The client has nothing more to say, which is all that can be seen of one that is gone.
    package static var clientLeft: Problem {
        Problem(.replyTimeout, "the client closed its side of the connection before the reply came")
    }

    /// The connection dropped before the reply came; the request may have been carried out or not.
    package static var connectionLost: Problem {
        Problem(
            .connectionLost,
            "the connection was lost before the reply came; the request may have arrived"
        )
    }

    /// The request never went out.
    package static var requestDropped: Problem {
        Problem(.messageDropped, "the request gave way to newer messages before it was sent")
    }
}
