internal import BridgeCore

extension StoreMailbox.Letter {
    /// What is waited for; nil: nothing.
    var promise: StorePromise? {
        switch content {
        case .offers(_, let promise): promise
        case .facts, .end: nil
        }
    }

    var isEnd: Bool {
        if case .end = content { true } else { false }
    }
}

extension StoreOffer {
    /// What takes it back; nil: nothing has to.
    var withdrawal: StoreFact? {
        guard case .messages(let messages, of: let id, key: let key) = self else { return nil }
        let first = messages.first?.number ?? 0
        return .withdrawn(first..<first + UInt64(messages.count), of: id, key: key?.key)
    }
}
