import WebSocketProtocol

/// A host with an optional port, as `Host` and origins have it (RFC 3986 §3.2, without userinfo).
package struct Authority: Hashable, Sendable {
    /// What a host is called by.
    package enum Host: Hashable, Sendable {
        /// A name, lower case, without a final dot.
        case name(String)
        /// An address as it was written, in lower case; IPv6 without brackets.
        case address(String)
    }

    package var host: Host
    package var port: UInt16?

    /// Reads `name`, `name:port`, `1.2.3.4:port` or `[v6]:port`; a port may be empty, an IPv6 zone is passed over.
    package init?(_ text: some StringProtocol) {
        let hostEnd: String.Index
        let text = String(text)
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            let inside = text[..<bracket].dropFirst()
            let zoneless = inside.firstIndex(of: "%").map { inside[..<$0] } ?? inside
            guard IPAddress.isIPv6(zoneless) else { return nil }
            host = .address(zoneless.lowercased())
            hostEnd = text.index(after: bracket)
        } else {
            hostEnd = text.firstIndex(of: ":") ?? text.endIndex
            guard let host = Authority.host(text[..<hostEnd]) else { return nil }
            self.host = host
        }
        guard let port = Authority.port(text[hostEnd...]) else { return nil }
        self.port = port
    }

    /// Whether only this machine is meant: `localhost`, a name below it, or a loopback address.
    ///
    /// An unusual spelling of ::1 counts as another machine's.
    package var isLoopback: Bool {
        switch host {
        case .name(let name): name == "localhost" || name.hasSuffix(".localhost")
        case .address(let address):
            address == "::1" || address.hasPrefix("::ffff:127.")
                || (address.hasPrefix("127.") && IPAddress.isIPv4(address))
        }
    }

    private static func host(_ text: Substring) -> Host? {
        if IPAddress.isIPv4(text) { return .address(String(text)) }
        let name = text.hasSuffix(".") ? text.dropLast() : text
        guard (1...255).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte) else { return nil }
        return .name(name.lowercased())
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The port after `:`; the outer nil means malformed, the inner one none.
    private static func port(_ text: Substring) -> UInt16?? {
        guard !text.isEmpty else { return .some(nil) }
        guard text.first == ":" else { return nil }
        let digits = text.dropFirst()
        guard !digits.isEmpty else { return .some(nil) }
        guard let port = UInt16(digits: digits) else { return nil }
        return .some(port)
    }
}
