/// What is so already, whether the store can be written or not: it keeps it until it can.
///
/// What is never refused must not grow without a bound; of these there is at most one for each message, key,
/// connection and time in which it could not be written.
package enum StoreFact: Equatable, Sendable {
    /// There is such a connection, and so much of its past is to be kept. Of one that is new, `past` is what others of
    /// its name had, of which nothing is kept.
    indirect case connection(
        StoredConnectionID,
        name: String,
        limits: HistoryLimits,
        past: StoredHistory = StoredHistory()
    )
    /// There is none any more: all of it goes, bit by bit.
    case removed(StoredConnectionID)
    /// Messages, which waited, came to the same end.
    case ended(Range<UInt64>, of: StoredConnectionID, as: MessageState)
    /// The first answer to a request with a key was given.
    case answered(key: String, of: StoredConnectionID, MessageStates)
    /// Messages are not to be sent after all, nor is anything to be known of them; `key` is that of their request.
    case withdrawn(Range<UInt64>, of: StoredConnectionID, key: String?)
    /// Records up to this sequence were shown and could not be stored; the next one's ordinal is `recorded`.
    case unstored(StoredConnectionID, through: UInt64, recorded: UInt64)
}

extension StoreFact {
    /// The same with the message that follows those of it; nil unless that came to the same end.
    package func joined(by number: UInt64, of connection: StoredConnectionID, as state: MessageState)
        -> StoreFact?
    {
        guard case .ended(let numbers, of: connection, as: state) = self, number == numbers.upperBound else {
            return nil
        }
        return .ended(numbers.lowerBound..<number + 1, of: connection, as: state)
    }
}
