internal import WebSocketProtocol

/// What is offered to the store, which may refuse it.
package enum StoreOffer: Equatable, Sendable {
    /// Their sequences are greater than any that was stored before.
    case record(StoredRecord)
    /// The messages of one request, and its key, or those of several without one. Their numbers follow one another, and are
    /// greater than any that was stored before of their connection.
    case messages([StoredMessage], of: StoredConnectionID, key: StoredKey?)
}

extension StoreOffer {
    /// About what it takes in memory and on disk, in bytes.
    package var cost: Int {
        switch self {
        case .record(let record):
            StoreOffer.overhead + record.payload.count + (record.topic?.utf8.count ?? 0)
        case .messages(let messages, _, let key):
            messages.reduce(key.map { StoreOffer.overhead + $0.key.utf8.count } ?? 0) { sum, message in
                sum + StoreOffer.overhead + message.message.bytes.count
            }
        }
    }

    private static let overhead = 96
}

extension [StoreOffer] {
    /// Adds the messages of a request; where those follow the ones before, and neither have a key, they become one offer.
    package mutating func append(_ messages: [StoredMessage], of id: StoredConnectionID, key: StoredKey?) {
        guard key == nil, let first = messages.first, let last = indices.last,
            case .messages(var earlier, of: id, key: nil) = self[last],
            earlier.last.map({ $0.number + 1 }) == first.number
        else { return append(.messages(messages, of: id, key: key)) }
        // Out of its place while it grows, so that it is not copied.
        self[last] = .messages([], of: id, key: nil)
        earlier += messages
        self[last] = .messages(earlier, of: id, key: nil)
    }
}
