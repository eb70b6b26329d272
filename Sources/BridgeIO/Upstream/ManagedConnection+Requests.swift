package import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// What became of a request.
    package enum RequestEnd {
        /// The reply, with the id of its record if it has one.
        case reply(Message, EventID?)
        /// The connection was lost first.
        case lost
        /// It was not sent.
        case dropped
    }

    /// Sends a message behind those that wait, if the connection is ready, and tells `onReply` what comes of it.
    ///
    /// Returns the number that `onReply` and `forgetRequest` know it by. A place that `correlation` names must be one of the
    /// message.
    package func request(
        _ message: Message,
        _ correlation: Correlation
    ) throws(OutboxError) -> UInt64 {
        let now = surroundings.loop.now
        if !isReady { tell(.messageOffered) }
        let receipt = try outbox.append(
            [message],
            uplink: uplink,
            mayWait: false,
            isTransient: true,
            room: surroundings.memory?.outboxRoom ?? .unlimited,
            now: now
        )
        let number = receipt.ids.numbers.lowerBound
        requests.accepted(number, correlation)
        for id in receipt.dropped { lose(id, as: .dropped) }
        fill()
        noteDemand()
        return number
    }

    /// There is no end yet to tell of this request.
    package func isWaiting(_ number: UInt64) -> Bool { requests.correlation(of: number) != nil }

    /// Nobody waits for the reply any more; what was not sent will not be.
    package func forgetRequest(_ number: UInt64) {
        guard requests.remove(number) else { return }
        outbox.dropRequest(number)
        noteDemand()
        noteDrained()
    }

    /// The message as which a request goes out now, on this socket.
    func identified(_ departure: Outbox.Departure, on socket: SocketID) -> Message {
        switch requests.correlation(of: departure.id.number) {
        case .member(let place, let kind):
            let request = departure.message.identified(at: place) { newID(kind) }
            guard let request else { return departure.message }
            requests.sent(departure.id.number, request.key, on: socket)
            outbox.goes(as: request.message)
            return request.message
        case .next:
            requests.sent(departure.id.number, nil, on: socket)
            return departure.message
        case nil:
            return departure.message
        }
    }

    private func newID(_ kind: RequestSettings.ID) -> [UInt8] {
        switch kind {
        case .counter: Array(String(machine.takeNumber()).utf8)
        case .uuid: UUIDText.json(using: &random)
        }
    }

    func answer(by message: Message, _ id: EventID?, on socket: SocketID, isNext: Bool = true) {
        let answered = requests.received(message, on: socket, isNext: isNext)
        guard !answered.isEmpty else { return }
        for number in answered { onReply(number, .reply(message, id)) }
        noteDemand()
        noteDrained()
    }

    func loseRequests(on socket: SocketID) {
        for number in requests.sent(on: socket) { loseRequest(number) }
        noteDemand()
    }

    func loseRequests(_ ids: [MessageID]) {
        for id in ids { loseRequest(id.number) }
    }

    private func loseRequest(_ number: UInt64) {
        if requests.remove(number) { onReply(number, .lost) }
    }
}
