/// Where the bridge listens.
package enum ListenAddress: Equatable, Sendable {
    /// A host name or IP address (no brackets); a nil host stands for all interfaces, port 0 for any free one.
    case tcp(host: String?, port: UInt16)
    /// A path that begins with NUL is an abstract name, which can only be passed to us.
    case unix(path: String)

    /// What fits into a `sockaddr_un` beside its final NUL.
    private static let longestPath = 107

    /// Reads `host:port`, `[v6]:port`, `:port` or `unix:PATH`.
    package init(text: String) throws(MalformedValue) {
        if text.hasPrefix("unix:") {
            self = .unix(path: try ListenAddress.path(text.dropFirst("unix:".count)))
            return
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(digits: text[text.index(after: colon)...])
        else {
            throw ListenAddress.malformed
        }
        let host = text[..<colon]
        guard !host.isEmpty else {
            self = .tcp(host: nil, port: port)
            return
        }
        guard let authority = Authority(host), authority.port == nil, !host.contains("%"),
            !host.hasSuffix(":")
        else {
            throw ListenAddress.malformed
        }
        let isBracketed = host.hasPrefix("[")
        self = .tcp(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
    }

    /// Only processes of this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp(nil, _): false
        case .tcp(let host?, _):
            Authority(host.contains(":") ? "[\(host)]" : host)?.isLoopback ?? false
        }
    }

    /// The form in which it is written.
    package var text: String {
        switch self {
        case .unix(let path): "unix:" + (path.utf8.first == 0 ? "@" + path.dropFirst() : path)
        case .tcp(let host, let port):
            if let host, host.contains(":") { "[\(host)]:\(port)" } else { "\(host ?? ""):\(port)" }
        }
    }

    private static let malformed = MalformedValue("host:port, [v6]:port, :port or unix:PATH")

    private static func path(_ text: Substring) throws(MalformedValue) -> String {
        guard !text.hasPrefix("@") else {
            throw MalformedValue(
                "unix:PATH with the path of a file (an abstract socket has no permissions; ./@ begins a file's name)"
            )
        }
        guard (1...longestPath).contains(text.utf8.count), !text.utf8.contains(0) else {
            throw MalformedValue("unix:PATH with a path of at most \(longestPath) bytes")
        }
        return String(text)
    }
}
