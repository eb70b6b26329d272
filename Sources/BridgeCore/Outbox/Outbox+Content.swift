package import WebSocketProtocol

extension Outbox {
    /// A message that waits or is being written, without its bytes.
    package struct Content: Equatable, Sendable {
        package var id: MessageID
        package var kind: Message.Kind
        package var bytes: Int
    }

    /// All messages, in the order in which they go out: those that are out already, then those that are queued.
    package var content: [Content] {
        (unproven.elements + inFlight.elements + queued.elements).filter { !$0.isTransient }.map { entry in
            Content(id: id(entry.number), kind: entry.message.kind, bytes: entry.size)
        }
    }

    /// Takes a message out that is queued; what went out may have reached the upstream and stays.
    ///
    /// Returns whether it was there.
    package mutating func drop(_ id: MessageID) -> Bool {
        guard id == self.id(id.number),
            let entry = queued.removeFirst(where: { $0.number == id.number && !$0.isTransient })
        else { return false }
        queuedBytes -= entry.size
        return true
    }

    /// Takes out all messages that are queued, and returns their ids in order.
    package mutating func dropAll() -> [MessageID] {
        takeQueued { !$0.isTransient }
    }
}
