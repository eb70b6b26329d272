package import WebSocketProtocol

/// A request of the commands that talk to a running bridge.
package struct ClientRequest: Equatable, Sendable {
    package var method: String
    /// In the form in which it is sent.
    package var target: String
    package var fields: [HTTPField] = []
    package var body: [UInt8]?

    package init(_ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// What is sent to the bridge at `address`.
    ///
    /// A unix socket has no name, and the bridge takes any there.
    package func bytes(for address: ListenAddress) -> [UInt8] {
        var host = "localhost"
        if case .tcp = address { host = address.text }
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nUser-Agent: wsbridge\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }
}

/// Where a command finds the bridge, and what shows it who asks.
package struct BridgeEndpoint: Equatable, Sendable {
    package var address: ListenAddress
    package var token: Secret?
    /// Whom it speaks TLS with; nil: it speaks plain HTTP.
    package var peer: BridgePeer?

    package init(address: ListenAddress, token: Secret? = nil, peer: BridgePeer? = nil) {
        self.address = address
        self.token = token
        self.peer = peer
    }

    /// The field that carries the token, if there is one.
    var authorization: [HTTPField] {
        token.map { [HTTPField("Authorization", "Bearer \($0.revealed)")] } ?? []
    }

    /// The path of a connection's resource; without a name the bridge's only connection, or `default`, is meant.
    static func path(_ connection: String?, _ resource: String, _ query: [(String, String)]) -> String {
        let base = connection.map { "/v1/connections/\(PercentCoding.encode($0))" } ?? ""
        let pairs = query.map { "\($0.0)=\(PercentCoding.encode($0.1))" }
        return "\(base)/\(resource)" + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

/// Who may answer a command over TLS.
package enum BridgePeer: Equatable, Sendable {
    /// Whoever does.
    case anybody
    /// The one that shows the first certificate of this file, whatever names and dates are in it.
    case holder(ofFirstIn: String)
}

extension ListenAddress {
    /// Where this machine reaches a bridge that listens here: wildcards become loopback; nil for port 0.
    package var reachable: ListenAddress? {
        switch self {
        case .unix: self
        case .tcp(_, 0): nil
        case .tcp(nil, let port): .tcp(host: "127.0.0.1", port: port)
        case .tcp(let host?, let port):
            switch host {
            case "0.0.0.0": .tcp(host: "127.0.0.1", port: port)
            case _ where host.contains(":") && host.allSatisfy({ $0 == ":" || $0 == "0" }):
                .tcp(host: "::1", port: port)
            default: self
            }
        }
    }
}
