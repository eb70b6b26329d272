internal import BridgeCore
internal import BridgeIO

/// What outlives the process.
extension Bridge {
    /// Tells of what the store has of connections that there are not: the name may be a slip, so it is kept.
    func warnOfUnclaimed() {
        for connection in store?.connections.leftOver ?? [] {
            log.warning(
                "the store has a connection that is not configured; what it has is kept",
                [
                    "connection": .text(connection.name),
                    "messages": .integer(connection.messages.count),
                    "records": .integer(connection.history.records),
                ]
            )
        }
    }

    /// A name that no outbox of this epoch had; where nothing is stored the epoch is the process.
    func outboxName(of stored: StoredConnection?) -> OutboxID {
        if let stored { return OutboxID(epoch: hub.log.epoch, stored.id) }
        outboxes += 1
        return OutboxID(epoch: hub.log.epoch, number: outboxes)
    }

    /// Has upstreams wait, or go on, as the store can take what they send.
    func holdBack() {
        let isHeldBack = store?.isCongested ?? false
        for connection in allConnections { connection.upstream.isHeldBack = isHeldBack }
    }

    /// Gives an answer once all that has happened is safe on disk, or at once where there is no store.
    func onceStored(_ response: HTTPResponse, _ request: AdmittedRequest) -> HTTPAnswer {
        guard let store else { return .response(response) }
        return .later { held in
            let refusal = HTTPResponse(.doneButUnstorable).adding(request.fields)
            held.promise()
            let isTaken = store.settle { isStored in held.give(isStored ? response : refusal) }
            if !isTaken { held.give(refusal) }
        }
    }
}
