package import WebSocketProtocol

/// Where the URLs of a connection come from.
package enum URLSource: Equatable, Sendable {
    /// At least one, tried in turn.
    case listed([WebSocketURL])
    /// Asked anew for every attempt, and given up on after this long.
    case asked(URLProvider, timeout: Duration)

    /// What the machine of the connection has to know of it.
    package var supply: URLSupply {
        switch self {
        case .listed(let urls): .listed(count: urls.count)
        case .asked(_, let timeout): .asked(timeout: timeout)
        }
    }

    /// Whether a connection over TLS may come of it.
    package var maySecure: Bool {
        switch self {
        case .listed(let urls): urls.contains(where: \.isSecure)
        case .asked: true
        }
    }

    /// Those that are known beforehand.
    package var urls: [WebSocketURL] {
        switch self {
        case .listed(let urls): urls
        case .asked: []
        }
    }
}

/// How the URLs of a connection come about, as far as turns and deadlines go.
package enum URLSupply: Equatable, Sendable {
    /// So many are known, at least one.
    case listed(count: Int)
    /// One is asked for before each dial.
    case asked(timeout: Duration)
}

/// Who knows the URL for the next attempt.
package enum URLProvider: Equatable, Sendable {
    case http(HTTPURLProvider)
    /// A program and its arguments; a name without a slash is looked for in `PATH`.
    case command([String])
}

/// An HTTP request whose answer tells the URL.
package struct HTTPURLProvider: Equatable, Sendable {
    /// Of the scheme http or https, so that `isSecure` means the latter.
    package var url: WebSocketURL
    /// Nil: POST with a body, GET without.
    package var method: String?
    package var headers: [HTTPField] = []
    package var body: String?
    /// Where in an answer of JSON the URL is; nil: the answer is the URL.
    package var pointer: JSONPointer?

    package init(url: WebSocketURL) {
        self.url = url
    }

    /// The method that is used.
    package var effectiveMethod: String { method ?? (body == nil ? "GET" : "POST") }

    /// Hides what is secret of the question, and `secrets`.
    package func mask(with secrets: [String]) -> SecretMask {
        var secrets = secrets + headers.map(\.value)
        if let body { secrets.append(body) }
        if let credentials = url.credentials { secrets += [credentials.user, credentials.password] }
        if let mark = url.target.firstIndex(of: "?") {
            secrets.append(String(url.target[url.target.index(after: mark)...]))
        }
        return SecretMask(secrets)
    }

    /// The URL as HTTP has it, without userinfo.
    package var httpURL: String { origin + url.target }

    /// Scheme, host and port: the rest may be secret.
    package var origin: String { "\(url.isSecure ? "https" : "http")://\(url.hostField)" }
}
