/// Counts and remembers what happened to a connection, for its status.
package struct ConnectionTally: Equatable, Sendable {
    /// A lifecycle event and when it happened.
    package struct Dated: Equatable, Sendable {
        package var event: Lifecycle
        package var at: WallTime
    }

    package private(set) var received = 0
    package private(set) var receivedBytes = 0
    package private(set) var sent = 0
    package private(set) var sentBytes = 0
    package private(set) var opens = 0
    package private(set) var closes = 0
    package private(set) var failures = 0
    package private(set) var retries = 0
    package private(set) var closesByCode = CloseCodeTally()
    package private(set) var failuresByPhase: [DialPhase: Int] = [:]
    package private(set) var heartbeatsMissed = 0
    package private(set) var expired = 0
    package private(set) var dropped = 0
    package private(set) var lastClose: Dated?
    package private(set) var lastError: Dated?
    package private(set) var standing = ConnectionMachine.Standing.idle
    /// When the connection came to stand as it does.
    package private(set) var since: WallTime

    package init(at time: WallTime) {
        since = time
    }

    /// A message came, with this much payload.
    package mutating func received(bytes: Int) {
        received &+= 1
        receivedBytes &+= bytes
    }

    /// The kernel took a message.
    package mutating func sent(bytes: Int) {
        sent &+= 1
        sentBytes &+= bytes
    }

    package mutating func happened(_ event: Lifecycle, at time: WallTime) {
        switch event {
        case .open: opens += 1
        case .closed(let code, _, _, _):
            closes += 1
            closesByCode.closed(code)
            lastClose = Dated(event: event, at: time)
        case .failed(let failure):
            failures += 1
            failuresByPhase[failure.phase, default: 0] += 1
            lastError = Dated(event: event, at: time)
        case .heartbeatMissed: heartbeatsMissed += 1
        case .reconnecting: retries += 1
        case .messageExpired: expired += 1
        case .messageDropped: dropped += 1
        case .connecting, .ready, .heartbeatLost, .gaveUp, .networkLost, .networkRestored,
            .paused, .resumed, .rotated:
            break
        }
    }

    /// The machine may have moved: notes since when it stands so.
    package mutating func stands(_ standing: ConnectionMachine.Standing, at time: WallTime) {
        guard standing != self.standing else { return }
        self.standing = standing
        since = time
    }
}
