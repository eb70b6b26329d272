extension Lifecycle {
    /// Writes the members that this event has besides `type`, `connection` and `time`.
    func writeMembers(to json: inout JSONWriter) {
        switch self {
        case .connecting, .ready, .heartbeatLost, .networkLost, .networkRestored, .paused, .resumed,
            .rotated:
            break
        case .open(let subprotocol, let reconnected):
            json.member("subprotocol", subprotocol)
            json.member("reconnected", reconnected)
        case .closed(let code, let reason, let clean, let closer):
            json.member("code", code)
            json.member("reason", reason)
            json.member("clean", clean)
            json.member("by", closer.rawValue)
        case .failed(let failure):
            json.member("phase", failure.phase.rawValue)
            json.member("status", ifPresent: failure.status)
            json.member("error", failure.error)
        case .heartbeatMissed(let misses):
            json.member("misses", misses)
        case .reconnecting(let attempt, let delay):
            json.member("attempt", attempt)
            json.member("delayMs", delay.milliseconds)
        case .gaveUp(let attempts):
            json.member("attempts", attempts)
        case .messageExpired(let id), .messageDropped(let id):
            json.member("id", id)
        }
    }
}
