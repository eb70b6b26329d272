package import BridgeCore

extension EventHub {
    /// Writes an element for each stream that has this connection, the oldest first.
    package func writeSubscribers(of connection: ConnectionIndex, to json: inout JSONWriter) {
        let subscribers = feeds.takers(of: connection).flatMap(\.subscribers)
        for subscriber in subscribers.sorted(by: { $0.since < $1.since }) {
            json.element { $0.object { write(subscriber, to: &$0) } }
        }
    }

    private func write(_ subscriber: Subscriber, to json: inout JSONWriter) {
        let filter = subscriber.feed.filter
        json.member("client", subscriber.client.text)
        json.member("format", subscriber.feed.format.rawValue)
        json.member("filters") { json in
            json.object { json in
                json.member("types") { json in
                    json.array { json in for name in filter.types.names { json.element(name) } }
                }
                json.member("direction", filter.directions.rawValue)
                json.member("topics") { json in
                    json.array { json in for topic in filter.topics { json.element(topic.text) } }
                }
                json.member("matches") { json in
                    json.array { json in
                        for condition in filter.content.conditions { json.element(condition.text) }
                    }
                }
            }
        }
        json.member("since", subscriber.since.text)
        json.member("lag", lag(of: subscriber))
        json.member("gaps", subscriber.gaps)
    }

    /// Records that have not wholly been handed to the subscriber's socket.
    func lag(of subscriber: Subscriber) -> Int {
        switch subscriber.phase {
        case .replaying(let cursor):
            return subscriber.recordsInPage + log.lag(of: cursor)
        case .live:
            let position = subscriber.position(in: subscriber.feed)
            return subscriber.recordsInPage + (position.flatMap(subscriber.feed.index.lag) ?? 0)
        case .waiting, .ending, .gone:
            return subscriber.recordsInPage
        }
    }
}
