internal import BridgeCore
internal import WebSocketProtocol

/// What one connection has in the store.
final class ConnectionStore: MessageStore {
    let id: StoredConnectionID
    unowned let store: BridgeStore

    init(_ id: StoredConnectionID, in store: BridgeStore) {
        self.id = id
        self.store = store
    }

    /// Nobody wants it any more, nor what it has.
    func remove() {
        store.note(.removed(id))
    }

    func offer(
        _ messages: [StoredMessage],
        key: StoredKey?,
        completion: @escaping (Bool) -> Void
    ) throws(OutboxError) {
        guard store.offer(messages, of: id, key: key, completion: completion) else {
            throw .unstorable
        }
    }

    func ended(_ number: UInt64, as state: MessageState) {
        store.ended(number, of: id, as: state)
    }

    /// The first answer to a request with a key was given.
    func answered(_ key: String, _ states: MessageStates) {
        store.note(.answered(key: key, of: id, states))
    }
}
