internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// The messages of a request that waits until they are stored, or sent, with those who wait: the request, and its
/// repeats.
final class SendWait {
    /// One who waits, each for as long as it asked for, but until the messages are stored at least.
    final class Waiting {
        /// Nil once the client is gone that was the first to ask; its answer counts for repeats all the same.
        fileprivate var held: HeldAnswer?
        fileprivate let fields: [HTTPField]
        /// It is the request itself and no repeat.
        let isFirst: Bool
        var deadline: LoopTimer?
        /// It does not wait until they are sent, or not any more.
        fileprivate var isDue: Bool

        init(_ held: HeldAnswer, fields: [HTTPField], isFirst: Bool, isDue: Bool = false) {
            self.held = held
            self.fields = fields
            self.isFirst = isFirst
            self.isDue = isDue
        }

        // As that of the whole.
        nonisolated deinit {}
    }

    var consignment: Consignment
    private let isList: Bool
    /// That of the request, if it has one.
    let key: String?
    private var waiting: [Waiting] = []
    /// It is told when one of its messages comes to its end.
    var isRegistered = false
    /// Nobody is answered before.
    private(set) var isStored: Bool

    init(_ consignment: Consignment, isList: Bool, key: String?, isStored: Bool = true) {
        self.consignment = consignment
        self.isList = isList
        self.key = key
        self.isStored = isStored
    }

    // Let go of on the loop alone; to make sure of it would cost as much as a lock, for each of the two.
    nonisolated deinit {}

    /// The messages are safe on disk; returns those who need not wait for more.
    func stored() -> [Waiting] {
        isStored = true
        return waiting.filter(\.isDue)
    }

    /// Nobody waits for more than that.
    var isDue: Bool { waiting.allSatisfy(\.isDue) }

    /// Nobody waits any more.
    var isDeserted: Bool { waiting.isEmpty }

    /// What is known now.
    var answer: HTTPResponse { consignment.answer(isList: isList) }

    /// One more waits.
    ///
    /// A client that can wait no longer is told what is known by then; afterwards `onLeave` is called.
    func join(_ one: Waiting, onLeave: @escaping () -> Void) {
        waiting.append(one)
        if !isStored, one.isDue {
            one.held?.promise()
            return
        }
        one.held?.onLastCall = { [unowned self, unowned one] in
            guard isStored else {
                one.isDue = true
                one.held?.promise()
                return
            }
            give(answer, to: one)
            if !one.isFirst || key == nil { leave(one) }
            onLeave()
        }
    }

    /// The time of one that waits is over: it gets what is known, as soon as anything is.
    func end(_ one: Waiting) {
        one.isDue = true
        guard isStored else { return }
        give(answer, to: one)
        leave(one)
    }

    /// Gives everyone the answer.
    func finish(_ answer: HTTPResponse) {
        let everyone = waiting
        waiting = []
        for one in everyone {
            one.deadline = nil
            give(answer, to: one)
        }
    }

    private func give(_ answer: HTTPResponse, to one: Waiting) {
        let held = one.held
        one.held = nil
        held?.give(answer.adding(one.fields))
    }

    private func leave(_ one: Waiting) {
        one.deadline = nil
        waiting.removeAll { $0 === one }
    }
}
