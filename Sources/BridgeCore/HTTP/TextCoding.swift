/// Whether the bytes of a text body are its text, in UTF-8.
///
/// They go out as they came, so any other coding would reach the upstream as something that it is not.
enum TextCoding {
    /// Throws `unsupported-media-type` (415) for a body that is compressed or in another character set.
    static func check(_ head: RequestHead) throws(Problem) {
        for list in head.values(of: "content-encoding") {
            for coding in list.split(separator: ",").map(word) where coding != "" && coding != "identity" {
                throw Problem(
                    .unsupportedMediaType,
                    "text must be sent without Content-Encoding; for the bytes as they are use ?type=binary"
                )
            }
        }
        for type in head.values(of: "content-type") {
            guard let charset = charset(of: type), !["utf-8", "utf8", "us-ascii"].contains(charset) else {
                continue
            }
            throw Problem(
                .unsupportedMediaType,
                "text must be UTF-8, and the Content-Type names another charset; for the bytes as they are use "
                    + "?type=binary"
            )
        }
    }

    /// The parameter of a media type (RFC 9110 §8.3.2), in lower case.
    private static func charset(of type: String) -> String? {
        for parameter in type.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, word(parts[0]) == "charset" else { continue }
            return word(parts[1]).filter { $0 != "\"" }
        }
        return nil
    }

    /// Lower case, without the blanks around it.
    private static func word(_ text: Substring) -> String {
        text.filter { $0 != " " && $0 != "\t" }.lowercased()
    }
}
