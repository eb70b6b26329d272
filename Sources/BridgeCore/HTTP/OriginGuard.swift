internal import WebSocketProtocol

/// Decides which web pages may reach the bridge, and tells their browsers so (CORS).
struct OriginGuard: Sendable {
    /// What a request's origin turned out to be.
    enum Finding: Equatable {
        /// It does not come from a page of another origin.
        case own
        /// It comes from a page that the configuration allows; the value of `Access-Control-Allow-Origin`.
        case allowed(String)
    }

    private let origins: Set<String>
    private let acceptsAny: Bool
    /// Those of pages that the bridge may have served itself.
    private let ownSchemes: [(scheme: String, port: UInt16)]

    /// `allowed` are origins as browsers write them, or `*`.
    ///
    /// Where clients speak plain HTTP, a proxy in front may have the certificate, so the bridge's own page may well be one of
    /// `https:`. Where they speak TLS it is never one of `http:`, which anybody on the way could have written.
    init(allowed: [String], servesTLS: Bool) {
        ownSchemes = servesTLS ? [OriginGuard.https] : OriginGuard.defaultPorts
        acceptsAny = allowed.contains("*")
        origins = Set(allowed.map(OriginGuard.normalized))
    }

    /// Throws `origin-not-allowed` (403) for pages that nobody allowed, whatever the method.
    ///
    /// Every `Origin` has to pass. Where there is none, `Sec-Fetch-Site` still gives away requests that a page of another
    /// site, or of another port of this host, makes without one, such as for an image; opening the bridge's own page
    /// from a link there stays possible.
    func examine(_ head: RequestHead, _ target: HTTPTarget, host: Authority?) throws(Problem) -> Finding {
        var finding = Finding.own
        let presented = head.values(of: "origin")
        for origin in presented {
            if acceptsAny {
                finding = .allowed("*")
            } else if origins.contains(OriginGuard.normalized(origin)) {
                finding = .allowed(origin)
            } else if !isOrigin(origin, of: host) {
                throw Problem(
                    .originNotAllowed,
                    "pages of `\(Problem.quotable(origin))` may not use this bridge; WSBRIDGE_ALLOWED_ORIGINS adds origins"
                )
            }
        }
        if presented.isEmpty, !OriginGuard.isOwnSite(head), !OriginGuard.opensFrontPage(head, target) {
            throw Problem(.originNotAllowed, "pages of other sites and ports may not use this bridge")
        }
        return finding
    }

    /// Whether a page of `origin` was served by `host`; its own default port may be written or not.
    private func isOrigin(_ origin: String, of host: Authority?) -> Bool {
        guard let host, let scheme = ownSchemes.first(where: { origin.lowercased().hasPrefix($0.scheme) }),
            let page = Authority(origin.dropFirst(scheme.scheme.count))
        else { return false }
        return page.host == host.host && (page.port ?? scheme.port) == (host.port ?? scheme.port)
    }

    /// Whether a request comes from a page of the bridge itself, or from no page at all.
    ///
    /// `Sec-Fetch-Site`, which no page can set, is the browser's own word on that; where it does not send it,
    /// the `Origin` has to be that of `host`.
    func isOwnPage(_ head: RequestHead, host: Authority?) -> Bool {
        guard head.values(of: "sec-fetch-site").isEmpty else { return OriginGuard.isOwnSite(head) }
        return head.values(of: "origin").allSatisfy { isOrigin($0, of: host) }
    }

    /// Whether the browser, if it says where a request comes from, says that it is the bridge's own page, or none.
    private static func isOwnSite(_ head: RequestHead) -> Bool {
        head.values(of: "sec-fetch-site").allSatisfy { $0 == "same-origin" || $0 == "none" }
    }

    private static func opensFrontPage(_ head: RequestHead, _ target: HTTPTarget) -> Bool {
        let destination = head.value(of: "sec-fetch-dest") ?? "document"
        return (head.method == "GET" || head.method == "HEAD") && target.path.isEmpty && !target.isAsterisk
            && head.value(of: "sec-fetch-mode") == "navigate" && destination == "document"
    }

    private static let https = (scheme: "https://", port: UInt16(443))
    private static let defaultPorts = [(scheme: "http://", port: UInt16(80)), https]

    /// Lower case, without the scheme's default port.
    private static func normalized(_ origin: String) -> String {
        let lower = origin.lowercased()
        for (scheme, port) in defaultPorts where lower.hasPrefix(scheme) && lower.hasSuffix(":\(port)") {
            return String(lower.dropLast(":\(port)".count))
        }
        return lower
    }
}

extension OriginGuard {
    /// What every answer says, refusals included: it depends on the origin.
    static let vary = HTTPField("Vary", "Origin")

    /// A request by which a browser asks whether a page may send another one.
    static func isPreflight(_ head: RequestHead) -> Bool {
        head.method == "OPTIONS" && head.value(of: "origin") != nil
            && head.value(of: "access-control-request-method") != nil
    }
}

extension OriginGuard.Finding {
    /// What the answer to the page carries.
    var fields: [HTTPField] {
        switch self {
        case .own: []
        case .allowed(let origin):
            [
                HTTPField("Access-Control-Allow-Origin", origin),
                HTTPField("Access-Control-Expose-Headers", PageFields.read),
            ]
        }
    }

    /// What the answer to a preflight carries besides.
    ///
    /// `allow` lists the methods of the resource asked for.
    func preflightFields(allow: String) -> [HTTPField] {
        guard case .allowed = self else { return [] }
        return [
            HTTPField("Access-Control-Allow-Methods", allow),
            HTTPField("Access-Control-Allow-Headers", PageFields.sent),
            // In seconds; browsers cap it themselves.
            HTTPField("Access-Control-Max-Age", "600"),
        ]
    }
}
