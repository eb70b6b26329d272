internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// Takes messages from HTTP into the outbox of one connection, and answers those who wait until they were sent.
final class Sender {
    private let upstream: ManagedConnection
    private let loop: Loop
    private let store: ConnectionStore?
    private var keys: IdempotencyLedger
    /// What is waited for, by the number of each of its messages.
    private var waits: [UInt64: SendWait] = [:]
    private var waitsByKey: [String: SendWait] = [:]
    /// Those whose messages are being stored.
    private var storing: [ObjectIdentifier: SendWait] = [:]
    /// Nothing is sent any more.
    private var isStopped = false

    init(_ upstream: ManagedConnection, loop: Loop, store: ConnectionStore?, keys: IdempotencyLedger) {
        self.upstream = upstream
        self.loop = loop
        self.store = store
        self.keys = keys
        upstream.onEnd = { [unowned self] id, state in ended(id, as: state) }
    }

    /// Sends what `body` is, or recognises it as a repeat; `fields` are added to the answer.
    ///
    /// Throws what `SendRequest.messages(in:)` does, the problems of an outbox, and `idempotency-mismatch` (422).
    func send(_ order: SendRequest, body: [UInt8], fields: [HTTPField]) throws(Problem) -> HTTPAnswer {
        let messages = try order.messages(in: body)
        guard let text = order.idempotencyKey else { return try accept(messages, order, nil, fields) }
        let key = MessageKey(text, fingerprint: Digests.sha256(order.form.mark + body))
        switch keys.find(key.text, fingerprint: key.fingerprint, now: loop.now) {
        case .mismatch:
            throw .idempotencyMismatch
        case .answered(let first):
            let answer = first.answer(isList: order.form == .lines)
            return .response(answer.adding(Sender.replayed + fields))
        case .underWay:
            guard let wait = waitsByKey[key.text] else { throw .internalError }
            let fields = Sender.replayed + fields
            guard order.wait != nil || !wait.isStored else {
                return .response(wait.answer.adding(fields))
            }
            return later(wait, fields, isFirst: false, for: order.wait)
        case .new:
            return try accept(messages, order, key, fields)
        }
    }

    private static let replayed = [HTTPField("Idempotency-Replayed", "true")]

    private func accept(
        _ messages: [Message],
        _ order: SendRequest,
        _ key: MessageKey?,
        _ fields: [HTTPField]
    ) throws(Problem) -> HTTPAnswer {
        guard store == nil || messages.isEmpty && key == nil else {
            return try store(messages, order, key, fields)
        }
        let ids: MessageIDs
        do throws(OutboxError) {
            ids = try upstream.send(messages, mayWait: order.mayQueue)
        } catch {
            throw Problem(error, nextAttempt: upstream.nextAttemptIn)
        }
        if let key { keys.accepted(key.text, fingerprint: key.fingerprint, now: loop.now) }
        let consignment = consignment(ids)
        let isList = order.form == .lines
        guard let limit = order.wait, consignment.verdict == .open else {
            if let key { keys.answered(key.text, with: consignment) }
            return .response(consignment.answer(isList: isList).adding(fields))
        }
        let wait = SendWait(consignment, isList: isList, key: key?.text)
        register(wait)
        return later(wait, fields, isFirst: true, for: limit)
    }

    /// What is known of messages that were accepted.
    private func consignment(_ ids: MessageIDs) -> Consignment {
        var consignment = Consignment(ids)
        for id in ids {
            if let state = upstream.message(id)?.state { consignment.ended(id, as: state) }
        }
        return consignment
    }

    // MARK: Waiting

    /// Has one more wait for the messages to be sent, for so long, or to be stored, if that is nil.
    private func later(
        _ wait: SendWait,
        _ fields: [HTTPField],
        isFirst: Bool,
        for limit: Duration?
    ) -> HTTPAnswer {
        .later { [unowned self] held in
            let one = SendWait.Waiting(held, fields: fields, isFirst: isFirst, isDue: limit == nil)
            if let limit {
                one.deadline = loop.startTimer(after: limit) { [unowned self] in timeIsOver(wait, for: one) }
            }
            wait.join(one) { [unowned self] in
                if wait.isDeserted { remove(wait) }
            }
        }
    }

    private func timeIsOver(_ wait: SendWait, for one: SendWait.Waiting) {
        if one.isFirst, wait.isStored { settleKey(of: wait) }
        wait.end(one)
        if wait.isDeserted { remove(wait) }
    }

    private func register(_ wait: SendWait) {
        wait.isRegistered = true
        for item in wait.consignment.items { waits[item.id.number] = wait }
        if let key = wait.key { waitsByKey[key] = wait }
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
        store?.answered(key, wait.consignment.states)
        waitsByKey[key] = nil
    }

    private func remove(_ wait: SendWait) {
        settleKey(of: wait)
        guard wait.isRegistered else { return }
        for item in wait.consignment.items { waits[item.id.number] = nil }
    }

    // MARK: Storing

    /// Has messages stored; who sent them is answered when they are.
    private func store(
        _ messages: [Message],
        _ order: SendRequest,
        _ key: MessageKey?,
        _ fields: [HTTPField]
    ) throws(Problem) -> HTTPAnswer {
        var wait: SendWait?
        let ids: MessageIDs
        do throws(OutboxError) {
            ids = try upstream.send(messages, mayWait: order.mayQueue, key: key) { [weak self] isStored in
                if let wait { self?.stored(wait, isStored) }
            }
        } catch {
            throw Problem(error, nextAttempt: upstream.nextAttemptIn)
        }
        if let key { keys.accepted(key.text, fingerprint: key.fingerprint, now: loop.now) }
        let begun = SendWait(
            Consignment(ids),
            isList: order.form == .lines,
            key: key?.text,
            isStored: false
        )
        wait = begun
        storing[ObjectIdentifier(begun)] = begun
        if let key { waitsByKey[key.text] = begun }
        return later(begun, fields, isFirst: true, for: order.wait)
    }

    private func stored(_ wait: SendWait, _ isStored: Bool) {
        // Nil where everyone has been answered already.
        guard storing.removeValue(forKey: ObjectIdentifier(wait)) != nil else { return }
        guard isStored else {
            if let key = wait.key, waitsByKey[key] === wait {
                keys.withdrawn(key)
                waitsByKey[key] = nil
            }
            return wait.finish(HTTPResponse(Problem(.unstorable)))
        }
        wait.consignment = consignment(wait.consignment.ids)
        let due = wait.stored()
        guard !isStopped, wait.consignment.verdict == .open else { return settle(wait) }
        // Most ask for no more than that.
        if !wait.isDue { register(wait) }
        for one in due { timeIsOver(wait, for: one) }
    }

    // MARK: Stopping

    /// Answers everyone who waits until something is sent: nothing will be.
    ///
    /// Messages that are stored will be when the bridge is there again; who waits for that is answered when it is so.
    func stop() {
        isStopped = true
        while let wait = waits.values.first {
            remove(wait)
            wait.finish(store == nil ? HTTPResponse(.bridgeStopping) : wait.answer)
        }
    }

    /// Answers everyone who waits: the messages are gone with their connection.
    func discard(because problem: Problem) {
        for wait in Array(waits.values) + Array(storing.values) {
            remove(wait)
            wait.finish(HTTPResponse(problem))
        }
        storing = [:]
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
