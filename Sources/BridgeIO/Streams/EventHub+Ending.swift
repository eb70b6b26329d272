package import BridgeCore

extension EventHub {
    /// Ends a subscriber's connection, which is not to be written to any more.
    func drop(_ subscriber: Subscriber, because reason: StreamEnd = .left) {
        guard !subscriber.isGone else { return }
        forget(subscriber, because: reason)
        subscriber.channel.end()
    }

    /// Ends the body of a subscriber that has got everything.
    func endCleanly(_ subscriber: Subscriber) {
        detach(subscriber)
        subscriber.enqueue(subscriber.feed.key.framing.end)
        subscriber.phase = .ending
        proceed(subscriber)
    }

    /// Ends every stream once it has shown what there is: with a last `retry:`, so that not all clients come back at once,
    /// and a clean end.
    ///
    /// Those whose clients do not take that now get it when they do, until the loop stops.
    package func endAll() {
        deliver()
        polls.answerAll()
        end(allSubscribers)
    }

    /// Ends the streams that show this connection alone, in the same way, and polls of it.
    func endStreams(of connection: ConnectionIndex) {
        deliver()
        let selection = ConnectionSelection(connection)
        polls.answerAll { $0.connections == selection }
        end(allSubscribers.filter { $0.feed.filter.connections == selection })
    }

    private func end(_ subscribers: [Subscriber]) {
        for subscriber in subscribers where !subscriber.isGone {
            subscriber.endsAtHead = true
            if let position = subscriber.position(in: subscriber.feed) {
                subscriber.enqueue(subscriber.feed.rest(from: position))
                detach(subscriber)
                conclude(subscriber)
            } else if subscriber.isWaiting {
                conclude(subscriber)
            }
            proceed(subscriber)
            relieve()
        }
    }

    /// Ends the streams of those who may not read any more, and gives their polls what they have, which is nothing.
    ///
    /// What a stream's client has not been sent yet it does not get, but for the rest of the event that it is in the
    /// middle of, and what had been made ready for it alone.
    package func endStreams(where isMeant: (Caller) -> Bool) {
        for waiting in polls.all where isMeant(waiting.caller) { waiting.finish() }
        for subscriber in allSubscribers where !subscriber.isGone && isMeant(subscriber.caller) {
            cut(subscriber)
            relieve()
        }
    }

    private func cut(_ subscriber: Subscriber) {
        switch subscriber.phase {
        case .live:
            let feed = subscriber.feed
            if let position = subscriber.position(in: feed), let page = feed.rest(at: position).page {
                subscriber.enqueue(page.bytes, from: page.start)
            }
            detach(subscriber)
        case .replaying, .waiting: break
        case .ending, .gone: return
        }
        conclude(subscriber)
        proceed(subscriber)
    }

    /// Ends the body of a subscriber that has, or is about to get, all that it will.
    func conclude(_ subscriber: Subscriber) {
        let feed = subscriber.feed
        subscriber.enqueue(retry(of: feed) + feed.key.framing.end)
        subscriber.phase = .ending
    }

    func detach(_ subscriber: Subscriber) {
        _ = subscriber.feed.live.remove(subscriber)
        subscriber.feed.others[ObjectIdentifier(subscriber)] = subscriber
    }

    /// Drops whoever is still there; the server must run afterwards to close their connections.
    package func dropAll() {
        polls.answerAll()
        for subscriber in allSubscribers { drop(subscriber, because: .stopped) }
    }

    // MARK: Those that are too slow

    /// Disconnects a subscriber as soon as the log outruns it, if that is what it asked for.
    func watchSpeed(_ subscriber: Subscriber) {
        guard subscriber.slowness == .disconnect else { return }
        impatient[ObjectIdentifier(subscriber)] = subscriber
    }

    /// Drops those who will never get what they had still to read, whether their clients read or not.
    func dropOutrun() {
        for subscriber in impatient.values where isOutrun(subscriber) { drop(subscriber, because: .slow) }
    }

    func isOutrun(_ subscriber: Subscriber) -> Bool {
        guard subscriber.slowness == .disconnect, !subscriber.isSearching,
            case .replaying(let cursor) = subscriber.phase
        else { return false }
        return log.hasOutrun(cursor)
    }
}
