import WebSocketProtocol

/// A connection through a SOCKS 5 proxy (RFC 1928), which may want user name and password (RFC 1929).
struct SOCKSConversation: Sendable {
    /// What the proxy says next.
    private enum Turn: Sendable {
        /// The way to log in. Becomes login or reply.
        case method
        /// Whether the login is right. Becomes reply.
        case login
        /// Whether it is connected; the last one.
        case reply
    }

    private let destination: Destination
    private let credentials: WebSocketURL.Credentials?
    private var turn = Turn.method
    private var bytes: [UInt8] = []

    private static let version: UInt8 = 5
    private static let loginVersion: UInt8 = 1

    /// The credentials, if there are any, have at most 255 bytes each, as the destination's name.
    init(to destination: Destination, credentials: WebSocketURL.Credentials?) {
        self.destination = destination
        self.credentials = credentials
    }

    /// Which ways to log in we know.
    var opening: [UInt8] {
        let methods = credentials == nil ? [Method.none] : [Method.none, Method.password]
        return [SOCKSConversation.version, UInt8(methods.count)] + methods
    }

    mutating func read(
        _ input: Span<UInt8>,
        from offset: inout Int
    ) throws(ProxyRefusal) -> ProxyConversation.Progress {
        while offset < input.count {
            bytes.append(input[offset])
            offset += 1
            let progress: ProxyConversation.Progress? =
                switch turn {
                case .method: try methodChosen()
                case .login: try loggedIn()
                case .reply: try replied()
                }
            guard let progress else { continue }
            bytes = []
            return progress
        }
        return .waiting
    }

    // MARK: Turns

    /// RFC 1928 §3.
    private mutating func methodChosen() throws(ProxyRefusal) -> ProxyConversation.Progress? {
        try expectVersion(SOCKSConversation.version)
        guard bytes.count == 2 else { return nil }
        switch (bytes[1], credentials) {
        case (Method.none, _):
            turn = .reply
            return .say(request)
        case (Method.password, let credentials?):
            turn = .login
            return .say(SOCKSConversation.login(credentials))
        case (Method.password, nil):
            throw ProxyRefusal("wants a user name and a password (socks5h://user:password@host:port)")
        case (Method.unacceptable, nil):
            throw ProxyRefusal("lets nobody in without logging in (socks5h://user:password@host:port)")
        case (Method.unacceptable, _?):
            throw ProxyRefusal("accepts neither a user name and a password nor no login")
        default:
            throw ProxyRefusal("chose a way to log in that was not offered")
        }
    }

    /// RFC 1929 §2.
    private mutating func loggedIn() throws(ProxyRefusal) -> ProxyConversation.Progress? {
        try expectVersion(SOCKSConversation.loginVersion)
        guard bytes.count == 2 else { return nil }
        guard bytes[1] == 0 else { throw ProxyRefusal("does not accept the user name and the password") }
        turn = .reply
        return .say(request)
    }

    /// RFC 1928 §6; the address that the proxy is bound to is read and not used.
    private func replied() throws(ProxyRefusal) -> ProxyConversation.Progress? {
        try expectVersion(SOCKSConversation.version)
        guard bytes.count >= 2 else { return nil }
        // A refusal ends with its code as far as we care; some proxies send no more.
        guard bytes[1] == 0 else { throw SOCKSConversation.refusal(bytes[1]) }
        guard bytes.count >= 5 else { return nil }
        let addressBytes: Int
        switch bytes[3] {
        case AddressType.ipv4: addressBytes = 4
        case AddressType.ipv6: addressBytes = 16
        case AddressType.name: addressBytes = 1 + Int(bytes[4])
        default: throw ProxyRefusal("answered with an address of an unknown type")
        }
        return bytes.count == 4 + addressBytes + 2 ? .established : nil
    }

    private func expectVersion(_ version: UInt8) throws(ProxyRefusal) {
        guard bytes[0] == version else { throw ProxyRefusal("does not speak SOCKS 5") }
    }

    // MARK: What we say

    private static func login(_ credentials: WebSocketURL.Credentials) -> [UInt8] {
        [loginVersion] + counted(credentials.user) + counted(credentials.password)
    }

    /// RFC 1928 §4, command CONNECT.
    private var request: [UInt8] {
        let address: [UInt8]
        switch IPAddress.bytes(of: destination.host) {
        case let bytes? where bytes.count == 4: address = [AddressType.ipv4] + bytes
        case let bytes?: address = [AddressType.ipv6] + bytes
        case nil: address = [AddressType.name] + SOCKSConversation.counted(destination.host)
        }
        let port = [UInt8(destination.port >> 8), UInt8(truncatingIfNeeded: destination.port)]
        return [SOCKSConversation.version, 1, 0] + address + port
    }

    private static func counted(_ text: String) -> [UInt8] {
        let bytes = text.utf8.prefix(255)
        return [UInt8(bytes.count)] + bytes
    }

    // MARK: Codes

    private enum Method {
        static let none: UInt8 = 0
        static let password: UInt8 = 2
        static let unacceptable: UInt8 = 0xFF
    }

    private enum AddressType {
        static let ipv4: UInt8 = 1
        static let name: UInt8 = 3
        static let ipv6: UInt8 = 4
    }

    private static func refusal(_ code: UInt8) -> ProxyRefusal {
        let (text, concernsAddress) =
            switch code {
            case 1: ("has a general failure", true)
            case 2: ("does not allow this connection by its rules", false)
            case 3: ("cannot reach the upstream's network", true)
            case 4: ("cannot reach the upstream's host", true)
            case 5: ("says that the upstream refused the connection", true)
            case 6: ("says that the upstream is too far away (TTL expired)", true)
            case 7: ("does not know the command to connect", false)
            case 8: ("does not know this type of address", true)
            default: ("refuses for an unknown reason", false)
            }
        var refusal = ProxyRefusal("\(text) (SOCKS reply \(code))")
        refusal.concernsAddress = concernsAddress
        return refusal
    }
}
