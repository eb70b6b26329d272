package import WebSocketProtocol

/// A complete answer: everything but what the server itself adds (`Date`, `Content-Length`, `Connection`).
package struct HTTPResponse: Equatable, Sendable {
    package var status: Int
    package var fields: [HTTPField]
    package var body: [UInt8]
    /// The connection is to be closed after this answer, since what follows on it cannot be trusted or read.
    package var closesConnection = false

    /// What every answer carries, event streams excepted in `Cache-Control`: nothing guesses at the type of
    /// a body that others wrote, and no cache keeps it.
    package static let protection = [
        HTTPField("X-Content-Type-Options", "nosniff"),
        HTTPField("Cache-Control", "no-store"),
    ]

    /// The protection of a body and what it is; made once, for answers that carry nothing else share them.
    package static let jsonType = protection + [HTTPField("Content-Type", "application/json")]
    private static let problemType = protection + [HTTPField("Content-Type", "application/problem+json")]

    /// An answer without a body.
    package init(status: Int, fields: [HTTPField] = []) {
        self.status = status
        self.fields = HTTPResponse.protection + fields
        self.body = []
    }

    /// An answer without a body that has these fields alone.
    package init(status: Int, exactly fields: [HTTPField]) {
        self.status = status
        self.fields = fields
        self.body = []
    }

    /// An answer whose body is `json`.
    package init(
        status: Int,
        json: consuming JSONWriter,
        type: [HTTPField] = HTTPResponse.jsonType,
        fields: [HTTPField] = []
    ) {
        self.status = status
        self.fields = fields.isEmpty ? type : type + fields
        json.endLine()
        self.body = json.bytes
    }

    /// The answer that tells a client about `problem` (RFC 9457).
    package init(_ problem: Problem) {
        var json = JSONWriter()
        json.object { problem.write(to: &$0) }
        self.init(
            status: problem.kind.status,
            json: json,
            type: HTTPResponse.problemType,
            fields: problem.fields
        )
        closesConnection = problem.closesConnection
    }

    /// The same answer with further fields.
    package func adding(_ further: [HTTPField]) -> HTTPResponse {
        guard !further.isEmpty else { return self }
        var response = self
        response.fields += further
        return response
    }
}
