/// The beginning of the body of an answer that refuses the handshake: what the upstream says to that, for the log.
///
/// The upstream may repeat what it was asked, so whatever of the request is secret is masked.
package struct AnswerExcerpt: Sendable {
    /// Bytes of a body that are shown.
    package static let maximumBytes = 512

    private let mask: SecretMask
    /// Bytes of the body that are of use, as far as its head tells.
    private let wanted: Int
    /// There may be more of the body than is of use.
    private let isCut: Bool
    private let isChunked: Bool
    private var body: [UInt8] = []

    init(of answer: HTTPHead, mask: SecretMask) {
        self.mask = mask
        // A secret that begins within the excerpt is to be seen as a whole, so that it can be recognised.
        let most = AnswerExcerpt.maximumBytes + min(mask.longest, 16 * 1024)
        isChunked = answer.list("Transfer-Encoding", contains: "chunked")
        let length = answer.onlyValue(of: "Content-Length").flatMap { UInt32($0) } ?? .max
        wanted = isChunked ? most : min(most, Int(length))
        isCut = isChunked || length > most
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
        mask.shown(body, maximumBytes: AnswerExcerpt.maximumBytes, isCut: isCut && body.count >= wanted)
    }
}

extension ClientHandshake.Terms {
    /// Hides what of a request must not be shown.
    func mask(authorization: String?) -> SecretMask {
        var secrets = fields.map(\.value)
        if let authorization { secrets.append(authorization) }
        if let credentials = url.credentials { secrets += [credentials.user, credentials.password] }
        if let mark = url.target.firstIndex(of: "?") {
            secrets.append(String(url.target[url.target.index(after: mark)...]))
        }
        return SecretMask(secrets)
    }
}
