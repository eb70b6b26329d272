package import WebSocketProtocol

/// The HTTP versions that are served.
package enum HTTPVersion: Equatable, Sendable {
    case http10
    case http11
}

/// Who sent a request.
package enum ClientAddress: Equatable, Sendable {
    /// The text form of an IP address, without a port.
    case ip(String)
    /// A process of this machine, over a unix socket.
    case unix
}

/// What a client sent before the body, as it was received.
package struct RequestHead: Equatable, Sendable {
    /// The method; methods are case-sensitive (RFC 9110 §9.1).
    package let method: String
    /// The raw request target, neither decoded nor cut.
    package let target: [UInt8]
    package let version: HTTPVersion
    /// The header fields in the order in which they came; every name is lower case.
    package let fields: [HTTPField]
    package let client: ClientAddress

    /// Takes a head over and lower-cases the field names.
    package init(
        method: String,
        target: [UInt8],
        version: HTTPVersion,
        fields: [HTTPField],
        client: ClientAddress
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields.map { HTTPField($0.name.lowercased(), $0.value) }
        self.client = client
    }

    /// Every value of the field `name`, which is given in lower case.
    package func values(of name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name == name { values.append(field.value) }
        return values
    }

    /// The first value of the field `name`, which is given in lower case.
    package func value(of name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

extension ClientAddress {
    /// Of the text form of an IP address; an IPv4 address is itself also where it came to an IPv6 socket.
    package init(host: String) {
        let mapped = "::ffff:"
        self = .ip(host.hasPrefix(mapped) && host.contains(".") ? String(host.dropFirst(mapped.count)) : host)
    }

    /// The address, or `unix`.
    package var text: String {
        switch self {
        case .ip(let address): address
        case .unix: "unix"
        }
    }
}
