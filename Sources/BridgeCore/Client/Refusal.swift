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
        let said = document.map { $0.detail ?? $0.title } ?? Refusal.plainText(body)
        let slug = document?.type?.split(separator: ":").last.map { "\($0), " } ?? ""
        let shown = said.map { $0 + " " } ?? ""
        let advice = status == 401 ? "; the token of WSBRIDGE_TOKEN is sent along" : ""
        text = Problem.quotable("\(shown)(\(slug)status \(status))\(advice)", limit: 1000)
    }

    /// The first line of a text, such as who speaks HTTP gets where HTTPS is spoken; a page is of no use here.
    private static func plainText(_ body: [UInt8]) -> String? {
        guard let first = body.first, first != UInt8(ascii: "<") else { return nil }
        return String(decoding: body.prefix { $0 >= 0x20 }, as: UTF8.self)
    }

    /// Asking again later may help.
    package var isPassing: Bool { status == 408 || status == 429 || status >= 500 }
}
