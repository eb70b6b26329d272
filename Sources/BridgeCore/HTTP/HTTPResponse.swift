package import WebSocketProtocol

/// A complete answer: everything but what the server itself adds (`Date`, `Content-Length`, `Connection`).
package struct HTTPResponse: Equatable, Sendable {
    package var status: Int
    /// The fields of its kind, which answers of one kind share.
    package let ownFields: [HTTPField]
    /// Those that were added for the request, which its answers share.
    package private(set) var addedFields: [HTTPField]
    package var body: [UInt8]
    /// The connection is to be closed after this answer, since what follows on it cannot be trusted or read.
    package var closesConnection = false
    /// What it tells of, if that is a problem; for those who count.
    package var problem: ProblemKind?

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
        ownFields = HTTPResponse.protection
        addedFields = fields
        body = []
    }

    /// An answer without a body that has these fields alone.
    package init(status: Int, exactly fields: [HTTPField]) {
        self.status = status
        ownFields = fields
        addedFields = []
        body = []
    }

    /// An answer whose body is a JSON object with the `members`.
    package init(
        status: Int,
        fields: [HTTPField] = [],
        members: (inout JSONWriter) -> Void
    ) {
        self.init(status: status, type: HTTPResponse.jsonType, fields: fields, members: members)
    }

    private init(
        status: Int,
        type: [HTTPField],
        fields: [HTTPField],
        members: (inout JSONWriter) -> Void
    ) {
        self.status = status
        ownFields = type
        addedFields = fields
        var json = JSONWriter()
        json.object(members)
        json.endLine()
        body = json.bytes
    }

    /// The answer that tells a client about `problem` (RFC 9457).
    package init(_ problem: Problem) {
        self.init(status: problem.kind.status, type: HTTPResponse.problemType, fields: problem.fields) {
            json in
            problem.write(to: &json)
        }
        closesConnection = problem.closesConnection
        self.problem = problem.kind
    }

    package var fields: [HTTPField] { ownFields + addedFields }

    /// The same answer with further fields.
    package consuming func adding(_ further: [HTTPField]) -> HTTPResponse {
        // Alone they need no list of their own.
        if addedFields.isEmpty { addedFields = further } else { addedFields += further }
        return self
    }
}
