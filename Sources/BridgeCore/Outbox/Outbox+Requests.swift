package import WebSocketProtocol

/// Requests, which go out among the messages, on the connection that there is or not at all.
extension Outbox {
    /// The message that was handed out last goes out as this one.
    package mutating func goes(as message: Message) {
        guard var entry = inFlight.popLast() else { return }
        outBytes += message.bytes.count - entry.size
        entry.message = message
        inFlight.append(entry)
    }

    /// Takes out the requests that are queued, or only those that were out already, and returns their ids in order.
    package mutating func dropRequests(thatWereOut: Bool) -> [MessageID] {
        guard queued.first != nil else { return [] }
        return takeQueued { $0.isTransient && ($0.wasOut || !thatWereOut) }
    }

    /// Takes out a request that is queued.
    package mutating func dropRequest(_ number: UInt64) {
        // They stand by number: one before the first was handed out, which all that wait for a reply were.
        guard let first = queued.first, first.number <= number else { return }
        _ = takeQueued { $0.isTransient && $0.number == number }
    }

    /// Takes out what is queued and meant, and returns the ids in order.
    mutating func takeQueued(_ isMeant: (Entry) -> Bool) -> [MessageID] {
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
