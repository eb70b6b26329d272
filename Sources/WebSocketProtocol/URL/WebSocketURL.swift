/// Where to dial (RFC 6455 §3): `ws`, `wss`, `http` or `https`, or a unix socket (`ws+unix`, `wss+unix`).
///
/// Printing it shows `redacted`, so that neither a log nor an error can leak its secrets.
package struct WebSocketURL: Hashable, Sendable {
    /// What to connect to.
    package enum Endpoint: Hashable, Sendable {
        /// A name or an address; IPv6 addresses stand without brackets.
        case tcp(host: String, port: UInt16)
        /// The path of a unix socket.
        case unix(path: String)
    }

    /// The userinfo, percent-decoded.
    package struct Credentials: Hashable, Sendable {
        package var user: String
        package var password: String

        /// What HTTP's Basic scheme encodes in base64 (RFC 7617 §2).
        package var basicInput: [UInt8] { Array("\(user):\(password)".utf8) }
    }

    /// Whether TLS is spoken.
    package let isSecure: Bool
    package let endpoint: Endpoint
    package let credentials: Credentials?
    /// Path and query as they were written; never empty.
    package let target: String
    /// Whether the path may be a secret, so that `redacted` has none.
    package var hidesPath = false

    init(isSecure: Bool, endpoint: Endpoint, credentials: Credentials?, target: String) {
        self.isSecure = isSecure
        self.endpoint = endpoint
        self.credentials = credentials
        self.target = target
    }

    /// The value of `Host`: the port stands only when it is not the scheme's own.
    package var hostField: String {
        switch endpoint {
        case .unix:
            return "localhost"
        case .tcp(let host, let port):
            let name = IPAddress.isIPv6(host) ? "[\(host)]" : host
            return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
        }
    }

    /// The URL without userinfo and query, and with `***` for a path that is hidden; for status, logs and errors.
    package var redacted: String {
        let path = String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        let shown = hidesPath && path != "/" ? "/***" : path
        switch endpoint {
        case .unix(let socket): return "\(isSecure ? "wss" : "ws")+unix:\(socket):\(shown)"
        case .tcp: return "\(isSecure ? "wss" : "ws")://\(hostField)\(shown)"
        }
    }
}

extension WebSocketURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { redacted }
    package var debugDescription: String { redacted }
    package var customMirror: Mirror { Mirror(self, children: ["redacted": redacted]) }
}
