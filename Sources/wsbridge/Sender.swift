internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// Takes messages from HTTP into the outbox of one connection, and answers those who wait until they were sent.
final class Sender {
    private let upstream: ManagedConnection
    private let loop: Loop
    private var keys = IdempotencyLedger()
    /// What is waited for, by the number of each of its messages.
    private var waits: [UInt64: SendWait] = [:]
    private var waitsByKey: [String: SendWait] = [:]

    init(_ upstream: ManagedConnection, loop: Loop) {
        self.upstream = upstream
        self.loop = loop
        upstream.onEnd = { [unowned self] id, state in ended(id, as: state) }
    }

    /// Sends what `body` is, or recognises it as a repeat; `fields` are added to the answer.
    ///
    /// Throws what `SendRequest.messages(in:)` does, the problems of an outbox, and `idempotency-mismatch` (422).
    func send(_ order: SendRequest, body: [UInt8], fields: [HTTPField]) throws(Problem) -> HTTPAnswer {
        let messages = try order.messages(in: body)
        guard let key = order.idempotencyKey else {
            return answer(try accept(messages, order), order, fields)
        }
        let fingerprint = Digests.sha256(order.form.mark + body)
        switch keys.find(key, fingerprint: fingerprint, now: loop.now) {
        case .mismatch:
            throw .idempotencyMismatch
        case .answered(let first):
            let answer = first.answer(isList: order.form == .lines)
            return .response(answer.adding(Sender.replayed + fields))
        case .underWay:
            guard let wait = waitsByKey[key] else { throw .internalError }
            let fields = Sender.replayed + fields
            guard let limit = order.wait else { return .response(wait.answer.adding(fields)) }
            return .later { [unowned self] held in
                join(wait, SendWait.Waiting(held, fields: fields, isFirst: false), for: limit)
            }
        case .new:
            let ids = try accept(messages, order)
            keys.accepted(key, fingerprint: fingerprint, now: loop.now)
            return answer(ids, order, fields)
        }
    }

    /// Answers everyone who waits: what was not sent by now never will be.
    func stop(because problem: Problem = .bridgeStopping) {
        while let wait = waits.values.first {
            remove(wait)
            wait.finish(HTTPResponse(problem))
        }
    }

    private static let replayed = [HTTPField("Idempotency-Replayed", "true")]

    private func accept(_ messages: [Message], _ order: SendRequest) throws(Problem) -> MessageIDs {
        do throws(OutboxError) {
            return try upstream.send(messages, mayWait: order.mayQueue)
        } catch {
            throw Problem(error, nextAttempt: upstream.nextAttemptIn)
        }
    }

    private func answer(_ ids: MessageIDs, _ order: SendRequest, _ fields: [HTTPField]) -> HTTPAnswer {
        var consignment = Consignment(ids)
        for number in ids.numbers {
            let id = MessageID(epoch: ids.epoch, number: number)
            if let state = upstream.message(id)?.state { consignment.ended(id, as: state) }
        }
        let isList = order.form == .lines
        guard let limit = order.wait, consignment.verdict == .open else {
            if let key = order.idempotencyKey { keys.answered(key, with: consignment) }
            return .response(consignment.answer(isList: isList).adding(fields))
        }
        let wait = SendWait(consignment, isList: isList, key: order.idempotencyKey)
        for id in ids { waits[id.number] = wait }
        if let key = wait.key { waitsByKey[key] = wait }
        return .later { [unowned self] held in
            join(wait, SendWait.Waiting(held, fields: fields, isFirst: true), for: limit)
        }
    }

    /// Has one more wait for the messages, for so long.
    private func join(_ wait: SendWait, _ one: SendWait.Waiting, for limit: Duration) {
        one.deadline = loop.startTimer(after: limit) { [unowned self] in
            if one.isFirst { settleKey(of: wait) }
            wait.end(one)
            if wait.isDeserted { remove(wait) }
        }
        wait.join(one) { [unowned self] in
            if wait.isDeserted { remove(wait) }
        }
    }

    private func ended(_ id: MessageID, as state: MessageState) {
        guard !waits.isEmpty, let wait = waits.removeValue(forKey: id.number) else { return }
        wait.consignment.ended(id, as: state)
        if wait.consignment.verdict != .open { settle(wait) }
    }

    /// Everyone who waits gets what is known by now.
    private func settle(_ wait: SendWait) {
        remove(wait)
        wait.finish(wait.answer)
    }

    /// What is known by now is the first answer for good.
    private func settleKey(of wait: SendWait) {
        // Another one has the key if it was forgotten meanwhile for newer keys and came again.
        guard let key = wait.key, waitsByKey[key] === wait else { return }
        keys.answered(key, with: wait.consignment)
        waitsByKey[key] = nil
    }

    private func remove(_ wait: SendWait) {
        settleKey(of: wait)
        for item in wait.consignment.items { waits[item.id.number] = nil }
    }
}

extension SendRequest.Form {
    /// What tells apart bodies that are equal but are other messages.
    fileprivate var mark: [UInt8] {
        switch self {
        case .message(.text): [0]
        case .message(.binary): [1]
        case .lines: [2]
        }
    }
}
