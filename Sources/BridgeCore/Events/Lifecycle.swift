/// Who ended a connection.
package enum Closer: String, Equatable, Sendable {
    /// The user asked for it over HTTP.
    case user
    /// A close frame or a drop by the peer.
    case server
    /// The bridge itself: lost heartbeat, bad frame, pause, idling, shutdown.
    case bridge
}

/// A lifecycle event of a connection, as it stands in the event log among the messages.
///
/// The names and members are those of the contract (`event: status`).
package enum Lifecycle: Equatable, Sendable {
    case connecting
    case open(subprotocol: String?, reconnected: Bool)
    case ready
    /// `code` as RFC 6455 §7.1.5 has it: 1005 for a close frame without one, 1006 for no close frame.
    case closed(code: UInt16, reason: String, clean: Bool, by: Closer)
    case failed(DialFailure)
    case heartbeatMissed(misses: Int)
    case heartbeatLost
    case reconnecting(attempt: Int, delay: Duration)
    case gaveUp(attempts: Int)
    /// There is no way to the upstream any more, by what the kernel knows.
    case networkLost
    case networkRestored
    case paused
    case resumed
    /// Another socket has taken the place of the open one, which is closed without a record.
    case rotated
    case messageExpired(id: String)
    case messageDropped(id: String)

    /// The `type` member of the status record.
    package var name: String {
        switch self {
        case .connecting: "connecting"
        case .open: "open"
        case .ready: "ready"
        case .closed: "closed"
        case .failed: "failed"
        case .heartbeatMissed: "heartbeat-missed"
        case .heartbeatLost: "heartbeat-lost"
        case .reconnecting: "reconnecting"
        case .gaveUp: "gave-up"
        case .networkLost: "network-lost"
        case .networkRestored: "network-restored"
        case .paused: "paused"
        case .resumed: "resumed"
        case .rotated: "rotated"
        case .messageExpired: "message-expired"
        case .messageDropped: "message-dropped"
        }
    }
}
