package import BridgeCore

/// What `wsbridge demo` tells its user once it listens.
package nonisolated enum DemoGuide {
    /// Lines to read and to paste, with a line feed at the end.
    ///
    /// `address` is the real one, with the port that the system chose. With `needsToken` the commands present
    /// the token of the environment, which the text itself does not show.
    package static func text(listeningOn address: ListenAddress, needsToken: Bool = false) -> String {
        let access = needsToken ? #"-H "Authorization: Bearer $WSBRIDGE_TOKEN" "# : ""
        func curl(_ options: String, _ path: String) -> String {
            "  curl \(options)\(access)\(address.curlTarget(path))"
        }
        return """
            A bridge is running, and an upstream that sends back what it gets and ticks once a second.
            \(address.pageURL.map { "Open \($0) in a browser, or follow" } ?? "Follow") what arrives, until Ctrl-C:
            \(curl("-N ", "/events"))
            Meanwhile, in another terminal, send a message; its echo arrives:
            \(curl("-d 'Hello' ", "/messages"))
            Ask how the connection is:
            \(curl("", "/status"))
            Ctrl-C here ends the demo.

            """
    }
}

extension ListenAddress {
    /// Where a browser finds the page; nil where none gets.
    nonisolated fileprivate var pageURL: String? {
        switch self {
        case .unix: nil
        case .tcp(let host, let port): ListenAddress.url(host, port, "/")
        }
    }

    nonisolated private static func url(_ host: String?, _ port: UInt16, _ path: String) -> String {
        switch host {
        case nil, "0.0.0.0": "http://127.0.0.1:\(port)\(path)"
        case "::": "http://[::1]:\(port)\(path)"
        case let host? where host.contains(":"): "http://[\(host)]:\(port)\(path)"
        case let host?: "http://\(host):\(port)\(path)"
        }
    }

    /// The arguments that make curl ask for `path` here, fit for a shell.
    nonisolated fileprivate func curlTarget(_ path: String) -> String {
        switch self {
        case .unix(let socket):
            "--unix-socket \(quotedForShell(socket)) http://localhost\(path)"
        case .tcp(let host, let port):
            // Shells would take brackets for a pattern.
            quotedForShell(ListenAddress.url(host, port, path))
        }
    }
}

/// The word as a shell reads it back, with quotes where it needs them.
private nonisolated func quotedForShell(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "/._-+:@%".utf8.contains(byte)
        }
    }
    guard !isPlain else { return word }
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: #"'\''"#) + "'"
}
