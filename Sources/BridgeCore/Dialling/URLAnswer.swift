package import WebSocketProtocol

/// What a provider said, which is to be an upstream's URL.
package struct URLAnswer: Sendable {
    private let bytes: [UInt8]

    /// Longer answers are refused.
    package static let maximumBytes = 64 * 1024

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The URL, which stands where `pointer` says in a document of JSON, or alone but for white space around it.
    ///
    /// What is thrown says what is wrong with the answer, without a word of it: it may hold secrets. A server may not
    /// name sockets of this machine, with `isLocal` false.
    package func url(
        at pointer: JSONPointer? = nil,
        isLocal: Bool
    ) throws(URLAnswerFailure) -> WebSocketURL {
        let text = if let pointer { try member(at: pointer) } else { try alone() }
        let url: WebSocketURL
        do throws(WebSocketURLError) {
            url = try WebSocketURL(text)
        } catch {
            throw URLAnswerFailure("its answer is no URL to dial: it \(error)")
        }
        if case .unix = url.endpoint, !isLocal {
            throw URLAnswerFailure("its answer is a unix socket, which is not dialled")
        }
        return url
    }

    private func alone() throws(URLAnswerFailure) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let trimmed = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        guard !trimmed.isEmpty else { throw URLAnswerFailure("its answer is empty") }
        guard let text = String(validating: trimmed, as: UTF8.self) else {
            throw URLAnswerFailure("its answer is not UTF-8")
        }
        return text
    }

    private func member(at pointer: JSONPointer) throws(URLAnswerFailure) -> String {
        guard let found = JSONSearch([pointer]).values(in: bytes.span) else {
            throw URLAnswerFailure("its answer is not JSON", isWithoutURL: true)
        }
        guard let place = found[0] else {
            throw URLAnswerFailure("there is nothing at \(pointer.text) in its answer", isWithoutURL: true)
        }
        guard bytes[place.lowerBound] == UInt8(ascii: "\"") else {
            throw URLAnswerFailure("there is no text at \(pointer.text) in its answer", isWithoutURL: true)
        }
        let content = bytes.span.extracting((place.lowerBound + 1)..<(place.upperBound - 1))
        guard let text = String(validating: JSONString.decoded(content), as: UTF8.self) else {
            throw URLAnswerFailure("its answer is not UTF-8")
        }
        return text
    }
}

/// Why an answer is no URL, as a sentence about its provider.
package struct URLAnswerFailure: Error, Equatable, Sendable {
    package let text: String
    /// There is nothing where the URL is to stand, so that the answer may tell why.
    package let isWithoutURL: Bool

    package init(_ text: String, isWithoutURL: Bool = false) {
        self.text = text
        self.isWithoutURL = isWithoutURL
    }
}
