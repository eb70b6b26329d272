/// Where the bridge listens.
package enum ListenAddress: Equatable, Sendable {
    /// A host name or IP address (no brackets); a nil host stands for all interfaces, port 0 for any free one.
    case tcp(host: String?, port: UInt16)
    case unix(path: String)
}
