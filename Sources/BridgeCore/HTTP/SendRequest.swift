package import WebSocketProtocol

/// What `POST .../messages` asks for, the bytes of its body aside.
package struct SendRequest: Equatable, Sendable {
    /// What a body is.
    package enum Form: Equatable, Sendable {
        /// One message.
        case message(Message.Kind)
        /// A text message a line (`application/x-ndjson`).
        case lines
    }

    package var form: Form
    /// How long the answer may wait until all was written upstream; nil: it does not.
    package var wait: Duration?
    /// Whether messages may wait in the outbox while the connection is not ready.
    package var mayQueue = true
    /// What makes a repeat recognisable.
    package var idempotencyKey: String?

    package init(_ form: Form) {
        self.form = form
    }

    /// Reads the query and the header fields.
    ///
    /// Throws `invalid-parameter` (400) or `unsupported-media-type` (415), which no `type` parameter overrides.
    init(_ query: [QueryPair], _ head: RequestHead) throws(Problem) {
        let parameters = try QueryParameters(query, known: ["type", "wait", "queue"])
        form = try SendRequest.form(parameters["type"], head)
        if form != .message(.binary) { try TextCoding.check(head) }
        wait = try AnswerWait.asked(by: parameters["wait"], head)
        mayQueue = try SendRequest.mayQueue(parameters["queue"])
        idempotencyKey = try SendRequest.idempotencyKey(head)
    }

    static func form(_ type: String?, _ head: RequestHead) throws(Problem) -> Form {
        let announced = try head.value(of: "content-type").map(ContentType.init)?.form
        switch (type, announced) {
        case (nil, _): return announced ?? .message(.text)
        case ("text", .lines): return .lines
        case ("text", _): return .message(.text)
        case ("binary", .lines): throw .invalidParameter("type", "the lines of application/x-ndjson are text")
        case ("binary", _): return .message(.binary)
        default: throw .invalidParameter("type", "it must be `text` or `binary`")
        }
    }

    private static func mayQueue(_ queue: String?) throws(Problem) -> Bool {
        switch queue {
        case nil, "true": true
        case "false": false
        default: throw .invalidParameter("queue", "it must be `true` or `false`")
        }
    }

    private static let longestKey = 255

    private static func idempotencyKey(_ head: RequestHead) throws(Problem) -> String? {
        let keys = head.values(of: "idempotency-key")
        guard let key = keys.first else { return nil }
        guard keys.count == 1, (1...longestKey).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw .invalidParameter(
                "Idempotency-Key",
                "it must be given once, as 1 to \(longestKey) visible ASCII characters"
            )
        }
        return key
    }
}

extension SendRequest {
    /// The messages that a body is, in order.
    ///
    /// Throws `invalid-utf8` (400) if any is to be text and is not; of several lines it names the first.
    package func messages(in body: [UInt8]) throws(Problem) -> [Message] {
        switch form {
        case .message(let kind): return [try Message(kind, body: body)]
        case .lines:
            return try SendRequest.lines(in: body)
        }
    }

    private static func lines(in body: [UInt8]) throws(Problem) -> [Message] {
        var messages: [Message] = []
        var number = 0
        for line in body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let content = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !content.isEmpty else { continue }
            do throws(Problem) {
                messages.append(try Message(.text, body: Array(content)))
            } catch {
                throw Problem(.invalidUTF8, "line \(number) is not UTF-8; nothing of the body was sent")
            }
        }
        return messages
    }
}
