internal import WebSocketProtocol

extension WebSocketURL {
    /// A URL that came in a message, if it is one that a server may name: unix sockets of this machine, and URLs
    /// with a user name, are not dialled for it.
    ///
    /// Its path may be what resumes a session, so it is hidden.
    static func captured(_ text: [UInt8]) throws(UnusableURL) -> WebSocketURL {
        guard let text = String(validating: text, as: UTF8.self) else { throw UnusableURL("it is not UTF-8") }
        var url: WebSocketURL
        do throws(WebSocketURLError) {
            url = try WebSocketURL(text)
        } catch {
            throw UnusableURL("it \(error)")
        }
        if case .unix = url.endpoint { throw UnusableURL("it is a unix socket, which is not dialled") }
        guard url.credentials == nil else {
            throw UnusableURL("it has a user name, with which it is not dialled")
        }
        url.hidesPath = true
        return url
    }
}

/// Why what came in a message is not dialled, as a sentence without a word of it.
struct UnusableURL: Error, Equatable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}

/// Where the next socket of a rotation is to be dialled.
enum RotationTarget: Equatable, Sendable {
    /// Where this one was, or where whoever is asked for URLs says.
    case same
    case url(WebSocketURL)
    /// The message had none where one was to stand, for this reason.
    case unusable(String)

    /// Takes what stands where the message has it.
    init(_ value: ArraySlice<UInt8>?) {
        guard let value else {
            self = .unusable("there is nothing")
            return
        }
        do throws(UnusableURL) {
            self = .url(try WebSocketURL.captured(JSONString.meaning(of: value)))
        } catch {
            self = .unusable(error.text)
        }
    }
}

/// Where a session is resumed: `resumeUrl`, a template of captured variables, in which strings are what they stand for.
package struct ResumeURL: Equatable, Sendable {
    /// As it was written.
    package let source: String
    /// The variables that it is made of, each once; at least one.
    package let variables: [String]
    private let pieces: [Piece]

    private enum Piece: Equatable {
        case text([UInt8])
        case variable(String)
    }

    /// - Throws: `MalformedValue`, if it is no template or has other places than variables, or none.
    package init(_ source: String) throws(MalformedValue) {
        let template = try Template(source)
        var variables: [String] = []
        var pieces: [Piece] = []
        for piece in template.pieces {
            switch piece {
            case .text(let text): pieces.append(.text(text))
            case .value(.variable(let name), _):
                pieces.append(.variable(name))
                if !variables.contains(name) { variables.append(name) }
            case .value, .now, .nowMilliseconds, .uuid, .counter, .digest: throw ResumeURL.malformed
            }
        }
        guard !variables.isEmpty else { throw ResumeURL.malformed }
        self.source = source
        self.variables = variables
        self.pieces = pieces
        // What can be said before anything is captured: a scheme that stands there must be one that can be dialled.
        guard case .text(let start) = pieces.first, start.contains(UInt8(ascii: ":")) else { return }
        // As a port, or as anything else.
        let canBeDialled = ["1", "a"].contains { value in
            let sample = pieces.flatMap { if case .text(let text) = $0 { text } else { Array(value.utf8) } }
            return (try? WebSocketURL.captured(sample)) != nil
        }
        guard canBeDialled else { throw ResumeURL.undiallable }
    }

    private static let undiallable = MalformedValue(
        "a ws, wss, http or https URL without user name and fragment, in which {{var:NAME}} stands"
    )
    private static let malformed = MalformedValue("a URL in which {{var:NAME}} stands, and no other template")

    /// Nil unless all variables are captured.
    func text(_ captured: Variables) -> [UInt8]? {
        var text: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .variable(let name):
                guard let value = captured.values[name] else { return nil }
                text += JSONString.meaning(of: value[...])
            }
        }
        return text
    }
}
