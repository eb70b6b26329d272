/// What is wrong with a URL; the operator is at fault.
///
/// Says which part, never what it holds: URLs carry secrets.
package enum WebSocketURLError: Error, Equatable, Sendable {
    case empty
    case scheme
    case missingHost
    case controlCharacterOrSpace
    case fragment
    case userinfo
    case host
    case ipv6
    case port
    case unixPath
    case unixTarget
}

extension WebSocketURLError: CustomStringConvertible {
    /// One phrase for people, to stand after "the URL".
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .scheme: "must start with ws:// or wss:// (http:// and https:// count as these)"
        case .missingHost: "names no host"
        case .controlCharacterOrSpace: "has a control character or a space; percent-encode it"
        case .fragment: "has a fragment (#…), which a WebSocket URL cannot have; percent-encode a # as %23"
        case .userinfo: "has a user name or password that is not valid percent-encoding or not allowed"
        case .host: "has an invalid host name"
        case .ipv6: "has an invalid IPv6 address"
        case .port: "has a port that is not a number from 1 to 65535"
        case .unixPath: "must name a socket path of 1 to 107 bytes after ws+unix:"
        case .unixTarget: "must have a path that starts with / after the socket path and a colon"
        }
    }
}
