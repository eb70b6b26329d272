package import WebSocketProtocol

/// Why a request was not served, as RFC 9457 has it.
///
/// Thrown by everything that reads requests, turned into an answer by `HTTPResponse`. The details are for
/// people and may repeat names that the client sent, but never a token, a payload or an upstream's URL.
package struct Problem: Error, Equatable, Sendable {
    package var kind: ProblemKind
    /// What is wrong with this very request, and where it helps what would be right.
    package var detail: String
    /// Each thing that is wrong, where there may be several.
    package var errors: [String] = []
    /// Further header fields of the answer, such as `Allow` or `Retry-After`.
    package var fields: [HTTPField] = []
    /// The connection cannot be used any further.
    package var closesConnection = false

    package init(_ kind: ProblemKind, _ detail: String, fields: [HTTPField] = []) {
        self.kind = kind
        self.detail = detail
        self.fields = fields
    }

    /// The same problem, after whose answer the connection is closed.
    package func closingConnection() -> Problem {
        var problem = self
        problem.closesConnection = true
        return problem
    }

    /// Writes the members of the problem object.
    package func write(to json: inout JSONWriter) {
        json.member("type", "urn:wsbridge:problem:" + kind.rawValue)
        json.member("title", kind.title)
        json.member("status", kind.status)
        json.member("detail", detail)
        guard !errors.isEmpty else { return }
        json.member("errors") { json in
            json.array { json in
                for error in errors { json.element(error) }
            }
        }
    }
}
