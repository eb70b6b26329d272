extension WebSocketURL {
    private static let unixSchemes = ["ws+unix", "wss+unix"]
    /// The longest path that a `sockaddr_un` holds, less its NUL.
    private static let maximumUnixPathBytes = 107

    /// Parses a URL as an operator writes it.
    ///
    /// Schemes are taken in any case and `http` and `https` as `ws` and `wss`. Path and query are kept
    /// verbatim, an empty path becomes `/`.
    package init(_ text: String) throws(WebSocketURLError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .controlCharacterOrSpace }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw .fragment }
        let scheme = text.prefix { $0 != ":" }.lowercasedASCII
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        if WebSocketURL.unixSchemes.contains(scheme) {
            guard rest.first == UInt8(ascii: ":") else { throw .scheme }
            try self.init(isSecure: scheme == "wss+unix", unix: rest.dropFirst())
            return
        }
        guard ["ws", "wss", "http", "https"].contains(scheme), rest.starts(with: "://".utf8) else {
            throw .scheme
        }
        try self.init(
            isSecure: scheme == "wss" || scheme == "https",
            afterScheme: Array(rest.dropFirst(3))
        )
    }

    private init(isSecure: Bool, afterScheme rest: [UInt8]) throws(WebSocketURLError) {
        let text = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let target = String(decoding: rest[text.endIndex...], as: UTF8.self)
        let authority = try URLAuthority(text)
        self.init(
            isSecure: isSecure,
            endpoint: .tcp(host: authority.host, port: authority.port ?? (isSecure ? 443 : 80)),
            credentials: authority.credentials,
            target: target.hasPrefix("/") ? target : "/" + target
        )
    }

    /// `PATH:/path`, also `//PATH:/path` as some write it; the socket path ends at the first colon.
    private init(isSecure: Bool, unix text: Substring.UTF8View) throws(WebSocketURLError) {
        let bytes = WebSocketURL.withoutEmptyAuthority(text)
        let path = bytes.prefix { $0 != UInt8(ascii: ":") }
        guard (1...WebSocketURL.maximumUnixPathBytes).contains(path.count) else { throw .unixPath }
        let target = String(decoding: bytes[path.endIndex...].dropFirst(), as: UTF8.self)
        // A query belongs after the colon: in a socket's path it would show in logs.
        guard target.isEmpty || target.hasPrefix("/"), !path.contains(UInt8(ascii: "?")) else {
            throw .unixTarget
        }
        self.init(
            isSecure: isSecure,
            endpoint: .unix(path: String(decoding: path, as: UTF8.self)),
            credentials: nil,
            target: target.isEmpty ? "/" : target
        )
    }

    private static func withoutEmptyAuthority(_ text: Substring.UTF8View) -> Substring.UTF8View {
        text.starts(with: "///".utf8) ? text.dropFirst(2) : text
    }

    /// The text of a URL with the path of its unix socket, if it names one, replaced by what `resolve` makes of it.
    package static func resolvingSocketPath(in text: String, _ resolve: (String) -> String) -> String {
        let scheme = text.prefix { $0 != ":" }
        guard unixSchemes.contains(scheme.lowercasedASCII), scheme.endIndex < text.endIndex else {
            return text
        }
        let bytes = withoutEmptyAuthority(text[text.index(after: scheme.endIndex)...].utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: ":") }
        guard !path.isEmpty else { return text }
        let rest = String(decoding: bytes[path.endIndex...], as: UTF8.self)
        return "\(scheme):" + resolve(String(decoding: path, as: UTF8.self)) + rest
    }
}
