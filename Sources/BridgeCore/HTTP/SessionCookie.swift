package import WebSocketProtocol

/// The cookie of a session: what it is called, how it is set, and how it is found among others (RFC 6265).
///
/// A browser sends the cookies of a host to each of its ports, so several bridges on one machine, or behind one
/// forwarded address each, would take one another's. The name therefore tells them apart: by the machine, where
/// the bridge listens, and the port that the browser named.
package struct SessionCookie: Equatable, Sendable {
    package let name: String
    /// The browser has the page over TLS, and shall not send the cookie otherwise.
    package var isSecure = false

    /// `instance` is the same over restarts, and another one for another bridge.
    init(instance: String, host: Authority?) {
        let port = host?.port.map(String.init) ?? ""
        name = SessionCookie.prefix + String(SessionCookie.hash("\(instance)\n\(port)"), radix: 36)
    }

    private static let prefix = "wsbridge-session-"

    /// Every value that a cookie of this name has, in whatever company it comes.
    package func values(in head: RequestHead) -> [String] {
        head.values(of: "cookie").flatMap { field in
            field.split(separator: ";").compactMap(value)
        }
    }

    private func value(_ pair: Substring) -> String? {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, SessionCookie.trimmed(parts[0]) == name else { return nil }
        var value = SessionCookie.trimmed(parts[1])
        if value.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") {
            value = value.dropFirst().dropLast()
        }
        return String(value)
    }

    /// Has the browser send `value` from now on, for as long as the session lasts.
    package func setting(_ value: String, for lifetime: Duration) -> HTTPField {
        field(value, seconds: max(0, lifetime.components.seconds))
    }

    /// Has the browser forget it.
    package var removal: HTTPField { field("", seconds: 0) }

    private func field(_ value: String, seconds: Int64) -> HTTPField {
        let secure = isSecure ? "; Secure" : ""
        return HTTPField(
            "Set-Cookie",
            "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(secure)"
        )
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...last]
    }

    /// FNV-1a: the same in every process, which is all that is asked of it.
    private static func hash(_ text: String) -> UInt32 {
        text.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }
}
