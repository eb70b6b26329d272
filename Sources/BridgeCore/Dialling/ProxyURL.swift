package import WebSocketProtocol

/// A proxy as an operator names it: `http://user:password@host:port`.
///
/// Printing it leaves the credentials out, so that neither a log nor an error can leak them.
package struct ProxyURL: Hashable, Sendable {
    /// How the proxy is spoken to.
    package enum Kind: String, CaseIterable, Sendable {
        /// HTTP CONNECT.
        case http
        /// HTTP CONNECT over TLS.
        case https
        /// SOCKS 5 with an address that was looked up here.
        case socks5
        /// SOCKS 5 with the name, which the proxy looks up.
        case socks5h

        /// The port of a URL that names none.
        fileprivate var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }
    }

    package let kind: Kind
    /// A name or an address; IPv6 addresses stand without brackets.
    package let host: String
    package let port: UInt16
    package let credentials: WebSocketURL.Credentials?

    package init(kind: Kind, host: String, port: UInt16, credentials: WebSocketURL.Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Parses a URL, which may end with a slash but has no path; without a scheme it is of the kind `assumed`.
    ///
    /// Throws what would be right, without the text.
    package init(_ text: String, assumed: Kind? = nil) throws(MalformedValue) {
        let parts = text.firstRange(of: "://").map { (text[..<$0.lowerBound], text[$0.upperBound...]) }
        guard let kind = parts.map({ Kind(rawValue: $0.0.lowercasedASCII) }) ?? assumed else {
            throw ProxyURL.malformed("must start with http://, https://, socks5:// or socks5h://")
        }
        let rest = parts?.1 ?? text[...]
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ProxyURL.malformed("has a control character or a space")
        }
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.utf8.contains(where: { "/?#".utf8.contains($0) }) else {
            throw ProxyURL.malformed("has more than user, password, host and port; percent-encode /, ? and #")
        }
        do throws(WebSocketURLError) {
            let parts = try URLAuthority(Array(authority.utf8)[...])
            self.init(
                kind: kind,
                host: parts.host,
                port: parts.port ?? kind.defaultPort,
                credentials: parts.credentials
            )
        } catch {
            throw ProxyURL.malformed(error.description)
        }
        guard kind == .http || kind == .https || hasShortCredentials else {
            throw ProxyURL.malformed("has a user name or password of more than 255 bytes")
        }
    }

    /// What a setting that names a proxy expects.
    package static let expectation =
        "a proxy such as http://proxy.example:3128 or socks5h://proxy.example:1080"

    private static func malformed(_ fault: String) -> MalformedValue {
        MalformedValue("\(expectation), but this one \(fault)")
    }

    /// RFC 1929 §2 counts them in a byte.
    private var hasShortCredentials: Bool {
        guard let credentials else { return true }
        return credentials.user.utf8.count <= 255 && credentials.password.utf8.count <= 255
    }

    /// Host and port as they stand in a URL.
    package var authority: String { Destination(host: host, port: port).authority }

    /// The URL without userinfo.
    package var redacted: String { "\(kind.rawValue)://\(authority)" }

    /// The URL with a mask in place of its userinfo.
    var masked: String {
        credentials == nil ? redacted : "\(kind.rawValue)://\(secretMask)@\(authority)"
    }
}

extension ProxyURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { redacted }
    package var debugDescription: String { redacted }
    package var customMirror: Mirror { Mirror(self, children: ["redacted": redacted]) }
}

/// A host and a port that a connection is to reach.
package struct Destination: Hashable, Sendable {
    /// A name or an address; IPv6 addresses stand without brackets.
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// As it stands in a URL.
    package var authority: String { IPAddress.isIPv6(host) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
