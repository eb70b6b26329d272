/// What has become of a message that was accepted.
package enum MessageState: Equatable, Sendable {
    /// It waits, is being written, or has yet to be proven to have arrived.
    case queued
    /// The kernel took it, or the peer proved to have it, as the outbox is set.
    case sent(at: WallTime)
    /// It waited for longer than it may.
    case expired
    /// It was taken out unsent: by a user, for newer ones, or because the upstream keeps refusing it.
    case dropped

    /// As the contract has it.
    package var name: String {
        switch self {
        case .queued: "queued"
        case .sent: "sent"
        case .expired: "expired"
        case .dropped: "dropped"
        }
    }

    /// When it was sent, if it was.
    package var sentAt: WallTime? {
        switch self {
        case .sent(let time): time
        case .queued, .expired, .dropped: nil
        }
    }
}
