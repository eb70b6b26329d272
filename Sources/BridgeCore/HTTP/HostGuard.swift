/// Refuses requests for hosts that are not ours, which is what DNS rebinding makes of a browser.
///
/// An IP address in `Host` is no danger: a page cannot make its own name resolve to one and keep the address as
/// its origin.
struct HostGuard: Sendable {
    private let names: Set<Authority.Host>
    private let acceptsAny: Bool

    /// `names` are what the configuration and the machine add; what is not a host is never matched.
    init(allowed: [String], ownNames: [String]) {
        acceptsAny = allowed.contains("*")
        names = Set((allowed + ownNames).compactMap { Authority($0)?.host })
    }

    /// What the request says it wants to reach; nil where it need not say, or where any name will do.
    ///
    /// Throws `invalid-host` (400) for none in HTTP/1.1, several or a malformed one (RFC 9112 §3.2).
    static func authority(of head: RequestHead, _ target: HTTPTarget) throws(Problem) -> Authority? {
        let hosts = head.values(of: "host")
        guard hosts.count <= 1 else { throw Problem(.invalidHost, "there is more than one Host") }
        guard hosts.count == 1 || head.version == .http10 else {
            throw Problem(.invalidHost, "HTTP/1.1 needs a Host")
        }
        guard let text = target.authority ?? hosts.first else { return nil }
        let authority = Authority(text)
        guard authority != nil || head.client == .unix else {
            throw Problem(.invalidHost, "the Host is malformed")
        }
        return authority
    }

    /// Throws `misdirected-host` (421) unless `authority` is one of ours; a trusted request may name any.
    func check(_ authority: Authority?, of head: RequestHead, isTrusted: Bool) throws(Problem) {
        guard let authority, head.client != .unix, !isTrusted, !acceptsAny else { return }
        switch authority.host {
        case .address:
            return
        case .name(let name):
            guard !authority.isLoopback, !names.contains(authority.host) else { return }
            throw Problem(
                .misdirectedHost,
                "`\(Problem.quotable(name))` is not a name of this bridge; WSBRIDGE_ALLOWED_HOSTS adds names"
            )
        }
    }
}
