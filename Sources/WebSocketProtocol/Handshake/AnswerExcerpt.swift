/// The beginning of the body of an answer that refuses the handshake: what the upstream says to that, for the log.
///
/// The upstream may repeat what it was asked, so whatever of the request is secret is masked.
package struct AnswerExcerpt: Sendable {
    /// Bytes of a body that are shown.
    package static let maximumBytes = 512

    private static let mask = Array("***".utf8)

    /// Longest first.
    private let secrets: [[UInt8]]
    /// Bytes of the body that are of use, as far as its head tells.
    private let wanted: Int
    private let isChunked: Bool
    private var body: [UInt8] = []

    init(of answer: HTTPHead, secrets: [String]) {
        let distinct = Set(secrets.map { Array($0.utf8) }).filter { $0.count >= 3 }
        self.secrets = distinct.sorted { $0.count > $1.count }
        // A secret that begins within the excerpt is to be seen as a whole, so that it can be recognised.
        let most = AnswerExcerpt.maximumBytes + min(self.secrets.first?.count ?? 0, 16 * 1024)
        isChunked = answer.list("Transfer-Encoding", contains: "chunked")
        let length = answer.onlyValue(of: "Content-Length").flatMap { UInt32($0) } ?? .max
        wanted = isChunked ? most : min(most, Int(length))
    }

    /// Nothing more is to be waited for.
    package var isComplete: Bool {
        body.count >= wanted || (isChunked && body.suffix(5).elementsEqual("0\r\n\r\n".utf8))
    }

    /// Takes what is of use of `input` from `offset` on.
    package mutating func take(_ input: Span<UInt8>, from offset: Int = 0) {
        for index in offset..<max(offset, min(input.count, offset + wanted - body.count)) {
            body.append(input[index])
        }
    }

    /// What came, masked and cut: the upstream's text, to be escaped; empty if nothing came.
    package var text: String {
        var shown: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty, shown.count < AnswerExcerpt.maximumBytes {
            if let secret = secrets.first(where: { rest.starts(with: $0) }) {
                shown += AnswerExcerpt.mask
                rest = rest.dropFirst(secret.count)
            } else {
                shown.append(rest.removeFirst())
            }
        }
        return String(decoding: shown.prefix(AnswerExcerpt.maximumBytes), as: UTF8.self)
    }
}

extension ClientHandshake.Terms {
    /// What of a request must not be shown, as a whole and in the parts that may be repeated alone.
    func secrets(authorization: String?) -> [String] {
        var secrets = fields.map(\.value)
        if let authorization { secrets.append(authorization) }
        if let credentials = url.credentials { secrets += [credentials.user, credentials.password] }
        if let mark = url.target.firstIndex(of: "?") {
            secrets.append(String(url.target[url.target.index(after: mark)...]))
        }
        let words = secrets.flatMap { $0.split(separator: " ").map(String.init) }
        let parts = words.flatMap { $0.split(whereSeparator: { ";,&=".contains($0) }).map(String.init) }
        return secrets + words + parts + parts.map(\.percentDecoded)
    }
}

extension String {
    /// With `%41` read as `A`; what is no escape stays.
    fileprivate var percentDecoded: String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
