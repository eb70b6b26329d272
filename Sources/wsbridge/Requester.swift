internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// Sends requests from HTTP on one connection, and answers each with its reply.
final class Requester {
    private struct Waiting {
        let held: HeldAnswer
        let fields: [HTTPField]
        let deadline: LoopTimer
    }

    private let upstream: ManagedConnection
    private let hub: EventHub
    private var loop: Loop { hub.loop }
    /// By the number of the request.
    private var waiting: [UInt64: Waiting] = [:]

    init(_ upstream: ManagedConnection, hub: EventHub) {
        self.upstream = upstream
        self.hub = hub
        upstream.onReply = { [unowned self] number, end in ended(number, end) }
    }

    /// Sends the message that `body` is; `fields` are added to the answer.
    ///
    /// Throws `invalid-utf8`, `invalid-body` or `invalid-parameter` (400).
    func request(
        _ order: ReplyRequest,
        body: [UInt8],
        settings: RequestSettings,
        fields: [HTTPField]
    ) throws(Problem) -> HTTPAnswer {
        let message = try Message(order.kind, body: body)
        let correlation = try order.correlation(of: message, settings)
        // It is sent only once somebody waits for its reply.
        return .later { [unowned self] held in
            do throws(OutboxError) {
                let number = try upstream.request(message, correlation)
                wait(for: number, held, fields: fields, timeout: order.timeout)
            } catch {
                held.give(HTTPResponse(Problem(error, nextAttempt: upstream.nextAttemptIn)).adding(fields))
            }
        }
    }

    private func wait(for number: UInt64, _ held: HeldAnswer, fields: [HTTPField], timeout: Duration) {
        guard upstream.isWaiting(number) else {
            return held.give(HTTPResponse(.connectionLost).adding(fields))
        }
        let deadline = loop.startTimer(after: timeout) { [unowned self] in
            upstream.forgetRequest(number)
            end(number, HTTPResponse(.replyTimeout(timeout)))
        }
        waiting[number] = Waiting(held: held, fields: fields, deadline: deadline)
        // Who closed its sending side has most likely gone, and nothing would tell before the reply is written.
        held.onLastCall = { [unowned self] in
            upstream.forgetRequest(number)
            end(number, HTTPResponse(.clientLeft))
        }
    }

    private func ended(_ number: UInt64, _ end: ManagedConnection.RequestEnd) {
        switch end {
        case .reply(let message, let id): self.end(number, HTTPResponse(reply: message, id: id))
        case .lost: self.end(number, HTTPResponse(.connectionLost))
        case .dropped: self.end(number, HTTPResponse(.requestDropped))
        }
    }

    private func end(_ number: UInt64, _ response: HTTPResponse) {
        guard let one = waiting.removeValue(forKey: number) else { return }
        let (held, fields) = (one.held, one.fields)
        // Whoever is told the id of a record can read it.
        hub.whenShown { held.give(response.adding(fields)) }
    }

    /// Answers everyone who waits: no reply will come.
    func stop(because problem: Problem) {
        for number in waiting.keys.sorted() {
            upstream.forgetRequest(number)
            end(number, HTTPResponse(problem))
        }
    }
}
