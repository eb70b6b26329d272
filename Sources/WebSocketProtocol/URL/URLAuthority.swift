/// Who and where in a URL: `user:password@host:port` (RFC 3986 §3.2), of which the host alone must stand.
package struct URLAuthority: Equatable, Sendable {
    package let credentials: WebSocketURL.Credentials?
    /// A name or an address; IPv6 addresses stand without brackets.
    package let host: String
    /// Nil when there is none: an empty port is the scheme's own (RFC 3986 §3.2.3).
    package let port: UInt16?

    package init(_ text: ArraySlice<UInt8>) throws(WebSocketURLError) {
        // The last one, as curl has it, since passwords are written with @ unescaped.
        let at = text.lastIndex(of: UInt8(ascii: "@"))
        let parts = try URLAuthority.split(at.map { text[($0 + 1)...] } ?? text)
        host = try URLAuthority.checkedHost(parts.host)
        port = try URLAuthority.port(parts.port)
        credentials = try at.map { text[..<$0] }.flatMap(URLAuthority.credentials)
    }

    /// The host with the brackets of an address, and what stands after the colon that follows it.
    private static func split(
        _ text: ArraySlice<UInt8>
    ) throws(WebSocketURLError) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?) {
        var end = text.endIndex
        if text.first == UInt8(ascii: "[") {
            guard let bracket = text.firstIndex(of: UInt8(ascii: "]")) else { throw .ipv6 }
            end = bracket + 1
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            end = colon
        }
        guard end < text.endIndex else { return (text, nil) }
        guard text[end] == UInt8(ascii: ":") else { throw .ipv6 }
        return (text[..<end], text[(end + 1)...])
    }

    private static func port(_ digits: ArraySlice<UInt8>?) throws(WebSocketURLError) -> UInt16? {
        guard let digits, !digits.isEmpty else { return nil }
        guard digits.allSatisfy(\.isASCIIDigit), let port = UInt16(String(decoding: digits, as: UTF8.self)),
            port > 0
        else { throw .port }
        return port
    }

    private static func checkedHost(_ host: ArraySlice<UInt8>) throws(WebSocketURLError) -> String {
        guard !host.isEmpty else { throw .missingHost }
        if host.first == UInt8(ascii: "[") {
            let address = String(decoding: host.dropFirst().dropLast(), as: UTF8.self)
            guard IPAddress.isIPv6(address) else { throw .ipv6 }
            return address
        }
        let name = String(decoding: host, as: UTF8.self)
        guard isHostName(host) || IPAddress.isIPv4(name) else { throw .host }
        return name
    }

    /// Labels of letters, digits, hyphens and underscores, at most 63 bytes each and 253 together.
    ///
    /// A name that ends in a number would be taken for some old form of an IPv4 address, so it is none.
    package static func isHostName(_ host: ArraySlice<UInt8>) -> Bool {
        let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host
        guard name.count <= 253 else { return false }
        let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areValid = labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
        return areValid && labels.last?.allSatisfy(\.isASCIIDigit) == false
    }

    /// Nil for an empty userinfo; the user ends at the first colon, which is why it cannot hold one.
    private static func credentials(_ userinfo: ArraySlice<UInt8>) throws(WebSocketURLError) -> WebSocketURL
        .Credentials?
    {
        guard !userinfo.isEmpty else { return nil }
        let user = userinfo.prefix { $0 != UInt8(ascii: ":") }
        let credentials = WebSocketURL.Credentials(
            user: try decoded(user),
            password: try decoded(userinfo[user.endIndex...].dropFirst())
        )
        guard !credentials.user.utf8.contains(UInt8(ascii: ":")) else { throw .userinfo }
        return credentials
    }

    /// Percent-decoded (RFC 3986 §2.1): UTF-8 without control characters, which Basic does not allow.
    private static func decoded(_ text: ArraySlice<UInt8>) throws(WebSocketURLError) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else {
                throw .userinfo
            }
            bytes.append(high << 4 | low)
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let decoded = String(validating: bytes, as: UTF8.self)
        else { throw .userinfo }
        return decoded
    }
}
