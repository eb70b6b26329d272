/// One `name=value` of a query, both decoded.
package struct QueryPair: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request target (RFC 9112 §3.2), read from its raw form so that nothing was unescaped, cut or joined before.
package struct HTTPTarget: Equatable, Sendable {
    /// `*`, the server as a whole.
    package private(set) var isAsterisk = false
    /// The authority of an absolute-form target, which takes the place of `Host` (RFC 9112 §3.2.2).
    package private(set) var authority: String?
    /// The decoded segments after the first slash: none for `/`, and an empty last one for `/a/`.
    package private(set) var path: [String] = []
    package private(set) var query: [QueryPair] = []

    /// Reads a raw target.
    ///
    /// Throws `invalid-target` (400) for what is not a target, `invalid-parameter` (400) for a query that cannot
    /// be decoded. Segments `.` and `..`, encoded or not, are refused: they mean something else to everyone who
    /// stands between, and nothing served here needs them.
    package init(parsing raw: [UInt8]) throws(Problem) {
        for byte in raw where byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "#") {
            throw Problem(.invalidTarget, "the target has a space, a control character or a fragment")
        }
        guard raw != [UInt8(ascii: "*")] else {
            isAsterisk = true
            return
        }
        var rest = raw[...]
        if let authority = try HTTPTarget.takeOrigin(from: &rest) {
            self.authority = authority
            if rest.first != UInt8(ascii: "/") { rest = [UInt8(ascii: "/")] + rest }
        }
        guard rest.first == UInt8(ascii: "/") else {
            throw Problem(.invalidTarget, "the target does not start with a slash")
        }
        let pathEnd = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = try HTTPTarget.segments(rest[..<pathEnd].dropFirst())
        query = try HTTPTarget.pairs(rest[pathEnd...].dropFirst())
    }

    /// Takes `http://authority` off the front of an absolute-form target.
    private static func takeOrigin(from rest: inout ArraySlice<UInt8>) throws(Problem) -> String? {
        guard let scheme = ["http://", "https://"].first(where: { startsWith($0, rest) }) else { return nil }
        rest = rest.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let bytes = rest[..<end]
        guard !bytes.isEmpty, !bytes.contains(UInt8(ascii: "@")),
            let authority = String(validating: bytes, as: UTF8.self)
        else { throw Problem(.invalidTarget, "the target's authority is malformed") }
        rest = rest[end...]
        return authority
    }

    private static func startsWith(_ scheme: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        // Bit 5 is all that tells the cases of an ASCII letter apart; ":" and "/" have it set anyhow.
        bytes.prefix(scheme.utf8.count).map { $0 | 0x20 } == Array(scheme.utf8)
    }

    private static func segments(_ bytes: ArraySlice<UInt8>) throws(Problem) -> [String] {
        guard !bytes.isEmpty else { return [] }
        var segments: [String] = []
        for piece in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            do throws(PercentCoding.Failure) {
                segments.append(try PercentCoding.decode(piece, plusIsSpace: false))
            } catch {
                throw Problem(.invalidTarget, "the path has \(error.rawValue)")
            }
        }
        guard !segments.contains("."), !segments.contains("..") else {
            throw Problem(.invalidTarget, "the path has a dot segment")
        }
        return segments
    }

    private static func pairs(_ bytes: ArraySlice<UInt8>) throws(Problem) -> [QueryPair] {
        var pairs: [QueryPair] = []
        for piece in bytes.split(separator: UInt8(ascii: "&")) {
            let mark = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            var name = "query"
            do throws(PercentCoding.Failure) {
                name = try PercentCoding.decode(piece[..<mark], plusIsSpace: true)
                let value = try PercentCoding.decode(piece[mark...].dropFirst(), plusIsSpace: true)
                pairs.append(QueryPair(name, value))
            } catch {
                throw .invalidParameter(name, "it has \(error.rawValue)")
            }
        }
        return pairs
    }
}
