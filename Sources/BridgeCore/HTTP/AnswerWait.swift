/// How long the answer to a request may be held: `?wait=5s`, or else `Prefer: wait=5` (RFC 7240 §4.3).
enum AnswerWait {
    /// No answer is held for longer.
    static let longest = Duration.seconds(300)

    /// The wait that a request asks for; nil: none.
    ///
    /// The header is a wish, so what is not understood there is passed over, and what is too long cut. Throws
    /// `invalid-parameter` (400) for a parameter that is malformed or too long.
    static func asked(by parameter: String?, _ head: RequestHead) throws(Problem) -> Duration? {
        let wait = if let parameter { try read(parameter) } else { preferred(head) }
        return wait == .zero ? nil : wait
    }

    private static func read(_ parameter: String) throws(Problem) -> Duration {
        guard let wait = try? Duration(text: parameter), wait <= longest else {
            throw .invalidParameter("wait", "it must be a duration such as 5s, of at most \(longest.text)")
        }
        return wait
    }

    private static func preferred(_ head: RequestHead) -> Duration? {
        for field in head.values(of: "prefer") {
            for preference in field.split(separator: ",") {
                let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, trimmed(parts[0]).lowercased() == "wait",
                    let seconds = Int64(digits: trimmed(parts[1]))
                else { continue }
                return min(.seconds(seconds), longest)
            }
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
