import WebSocketProtocol

/// How the values of settings are read, beside those that have a file of their own.
extension Bool {
    init(text: String) throws(MalformedValue) {
        switch text {
        case "true", "1": self = true
        case "false", "0": self = false
        default: throw MalformedValue("true or false")
        }
    }
}

extension LogLevel {
    init(text: String) throws(MalformedValue) {
        guard let level = LogLevel(rawValue: text) else {
            throw MalformedValue("debug, info, warning or error")
        }
        self = level
    }
}

extension LogFormat {
    init(text: String) throws(MalformedValue) {
        guard let format = LogFormat(rawValue: text) else { throw MalformedValue("text or json") }
        self = format
    }
}

extension StreamMode {
    init(text: String) throws(MalformedValue) {
        guard let mode = StreamMode(rawValue: text) else {
            throw MalformedValue("detached, suspended or pulled")
        }
        self = mode
    }
}

extension PublicDirectory {
    /// A path; a relative one starts at the working directory.
    init(text: String) throws(MalformedValue) {
        self.init(name: text)
    }
}

extension StorageSettings {
    /// A path; a relative one starts at the working directory.
    static func path(_ text: String) throws(MalformedValue) -> String { text }
}

extension WebSocketURL {
    /// Never shows the URL, only what is wrong with it.
    init(setting text: String) throws(MalformedValue) {
        do throws(WebSocketURLError) {
            self = try WebSocketURL(text)
        } catch {
            throw MalformedValue("a URL such as wss://example.org/feed, but this one \(error)")
        }
    }
}

extension Secret {
    /// A token that can stand in a header field and in a query: visible ASCII.
    init(bearerToken text: String) throws(MalformedValue) {
        guard !text.isEmpty else { throw MalformedValue("a token, but it is empty; unset it to have none") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw MalformedValue("a token of visible ASCII characters, without spaces or line ends")
        }
        self.init(text)
    }
}

extension HTTPSettings {
    /// Names of hosts, comma-separated, without scheme and port; or `*`.
    static func hosts(_ text: String) throws(MalformedValue) -> [String] {
        let hosts = words(text)
        guard hosts.allSatisfy(isHost) else {
            throw MalformedValue("host names without scheme and port, joined by commas, or *")
        }
        return hosts
    }

    /// Whether it is a host that may be allowed: one without scheme and port, or `*`.
    static func isHost(_ text: String) -> Bool {
        guard text != "*" else { return true }
        guard !text.contains(":") || text.hasPrefix("["), let authority = Authority(text) else {
            return false
        }
        return authority.port == nil
    }

    /// Origins as browsers write them, comma-separated; or `*`, or `null`.
    static func origins(_ text: String) throws(MalformedValue) -> [String] {
        let origins = words(text)
        guard origins.allSatisfy(isOrigin) else {
            throw MalformedValue(
                "origins such as https://example.org, without a path, joined by commas, or *"
            )
        }
        return origins
    }

    /// Whether it is an origin that may be allowed, as browsers write them; or `*`, or `null`.
    static func isOrigin(_ text: String) -> Bool {
        guard text != "*", text != "null" else { return true }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//"), !parts[0].isEmpty else { return false }
        let isScheme = parts[0].allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        }
        return isScheme && !parts[1].hasSuffix(":") && Authority(parts[1].dropFirst(2)) != nil
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: ",").map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }
}
