internal import FoundationEssentials

/// An answer by which the bridge refused what a command asked for.
package struct Refusal: Error, Equatable, Sendable {
    package var status: Int
    /// What the bridge said, fit for a terminal.
    package var text: String

    /// The most of a body that is looked at, in bytes.
    package static let bodyLimit = 64 << 10

    private struct Document: Decodable {
        var type: String?
        var title: String?
        var detail: String?
    }

    /// Takes the problem document (RFC 9457) out of an answer, if it has one.
    package init(status: Int, body: [UInt8]) {
        self.status = status
        let document = try? JSONDecoder().decode(Document.self, from: Data(body))
        let said = document?.detail ?? document?.title
        let slug = document?.type?.split(separator: ":").last.map { "\($0), " } ?? ""
        let shown = said.map { $0 + " " } ?? ""
        text = Problem.quotable("\(shown)(\(slug)status \(status))", limit: 1000)
    }

    /// Asking again later may help.
    package var isPassing: Bool { status == 408 || status == 429 || status >= 500 }
}
