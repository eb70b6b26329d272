/// Which end of the connection we are; it decides who masks (RFC 6455 §5.1).
package enum Role: Equatable, Sendable {
    /// Masks what it sends and refuses masked frames.
    case client
    /// Sends without masks and refuses frames without one.
    case server
}
