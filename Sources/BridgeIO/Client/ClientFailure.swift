/// Why a command got no answer.
package enum ClientFailure: Error, Equatable, Sendable {
    /// Nobody answers there; for people.
    case unreachable(String)
    /// What was begun was not finished, and may have been done or not; for people.
    case interrupted(String)
    /// Nobody reads what the command writes any more.
    case outputClosed
}
