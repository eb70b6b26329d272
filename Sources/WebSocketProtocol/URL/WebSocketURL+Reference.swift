extension WebSocketURL {
    /// Where a reference such as that of a `Location` leads to from here (RFC 3986 §5.2, RFC 9110 §10.2.2).
    ///
    /// Its fragment is dropped. The credentials are those that the reference has itself, so mostly none. From a URL
    /// that hides its path, it leads to one that does.
    package func resolving(_ reference: String) throws(WebSocketURLError) -> WebSocketURL {
        var url = try resolved(reference)
        url.hidesPath = hidesPath
        return url
    }

    private func resolved(_ reference: String) throws(WebSocketURLError) -> WebSocketURL {
        let text = String(decoding: reference.utf8.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        if WebSocketURL.hasScheme(text) { return try WebSocketURL(text).withoutDotSegments }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .controlCharacterOrSpace }
        if text.hasPrefix("//") {
            return try WebSocketURL((isSecure ? "wss:" : "ws:") + text).withoutDotSegments
        }
        return WebSocketURL(
            isSecure: isSecure,
            endpoint: endpoint,
            credentials: nil,
            target: target(resolving: Array(text.utf8))
        ).withoutDotSegments
    }

    /// The URL with the credentials of another one.
    package func authorized(as other: WebSocketURL) -> WebSocketURL {
        var url = WebSocketURL(
            isSecure: isSecure,
            endpoint: endpoint,
            credentials: other.credentials,
            target: target
        )
        url.hidesPath = hidesPath
        return url
    }

    /// Whether scheme, host and port are the same (RFC 6454 §5), or the unix socket is.
    package func hasSameOrigin(as other: WebSocketURL) -> Bool {
        guard isSecure == other.isSecure else { return false }
        switch (endpoint, other.endpoint) {
        case (.tcp(let host, let port), .tcp(let otherHost, let otherPort)):
            return host.lowercasedASCII == otherHost.lowercasedASCII && port == otherPort
        case (.unix(let path), .unix(let otherPath)): return path == otherPath
        case (.tcp, .unix), (.unix, .tcp): return false
        }
    }

    private static func hasScheme(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { !":/?".utf8.contains($0) }
        guard let first = scheme.first, first.isASCIILetter, scheme.endIndex < text.utf8.endIndex else {
            return false
        }
        return text.utf8[scheme.endIndex] == UInt8(ascii: ":")
            && scheme.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    }

    /// Path and query of a reference that has neither scheme nor authority.
    private func target(resolving reference: [UInt8]) -> String {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        switch reference.first {
        case nil: return target
        case UInt8(ascii: "/"): return String(decoding: reference, as: UTF8.self)
        case UInt8(ascii: "?"): return String(decoding: Array(path) + reference, as: UTF8.self)
        case .some:
            let folder = path.reversed().drop { $0 != UInt8(ascii: "/") }.reversed()
            return String(decoding: Array(folder) + reference, as: UTF8.self)
        }
    }

    /// Without `.` and `..` in the path (RFC 3986 §5.2.4).
    private var withoutDotSegments: WebSocketURL {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var kept: [Substring.UTF8View.SubSequence] = []
        for (index, segment) in segments.enumerated() {
            let isParent = segment.elementsEqual("..".utf8)
            guard isParent || segment.elementsEqual(".".utf8) else {
                kept.append(segment)
                continue
            }
            if isParent, !kept.isEmpty { kept.removeLast() }
            if index == segments.count - 1 { kept.append("".utf8[...]) }
        }
        let joined = kept.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
        let query = String(decoding: target.utf8[path.endIndex...], as: UTF8.self)
        return WebSocketURL(
            isSecure: isSecure,
            endpoint: endpoint,
            credentials: credentials,
            target: (joined.isEmpty ? "/" : joined) + query
        )
    }
}
