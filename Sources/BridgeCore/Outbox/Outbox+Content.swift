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
        let entry = queued.removeFirst { $0.number == id.number && !$0.isTransient }
        guard id == self.id(id.number), let entry else { return false }
        queuedBytes -= entry.size
        return true
    }

    /// Takes out all messages that are queued, and returns their ids in order.
    package mutating func dropAll() -> [MessageID] {
        takeQueued { !$0.isTransient }
    }

    /// Takes out the requests that are queued, or only those that were out already, and returns their ids in order.
    package mutating func dropRequests(thatWereOut: Bool) -> [MessageID] {
        guard queued.first != nil else { return [] }
        return takeQueued { $0.isTransient && ($0.wasOut || !thatWereOut) }
    }

    /// Takes out a request that is queued.
    package mutating func dropRequest(_ number: UInt64) {
        _ = takeQueued { $0.isTransient && $0.number == number }
    }

    private mutating func takeQueued(_ isMeant: (Entry) -> Bool) -> [MessageID] {
        var rest = Queue<Entry>()
        var taken: [MessageID] = []
        for entry in queued.elements {
            if isMeant(entry) {
                taken.append(id(entry.number))
                queuedBytes -= entry.size
            } else {
                rest.append(entry)
            }
        }
        queued = rest
        return taken
    }
}
