internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// The messages of a request that waits until they were sent, with those who wait: the request, and its repeats.
final class SendWait {
    /// One who waits, each for as long as it asked for.
    final class Waiting {
        /// Nil once the client is gone that was the first to ask; its answer counts for repeats all the same.
        fileprivate var held: HeldAnswer?
        fileprivate let fields: [HTTPField]
        /// It is the request itself and no repeat.
        let isFirst: Bool
        var deadline: LoopTimer?

        init(_ held: HeldAnswer, fields: [HTTPField], isFirst: Bool) {
            self.held = held
            self.fields = fields
            self.isFirst = isFirst
        }
    }

    var consignment: Consignment
    private let isList: Bool
    /// That of the request, if it has one.
    let key: String?
    private var waiting: [Waiting] = []

    init(_ consignment: Consignment, isList: Bool, key: String?) {
        self.consignment = consignment
        self.isList = isList
        self.key = key
    }

    /// Nobody waits any more.
    var isDeserted: Bool { waiting.isEmpty }

    /// What is known now.
    var answer: HTTPResponse { consignment.answer(isList: isList) }

    /// One more waits.
    ///
    /// A client that can wait no longer is told what is known by then; afterwards `onLeave` is called.
    func join(_ one: Waiting, onLeave: @escaping () -> Void) {
        waiting.append(one)
        one.held?.onLastCall = { [unowned self, unowned one] in
            give(answer, to: one)
            if !one.isFirst || key == nil { leave(one) }
            onLeave()
        }
    }

    /// The time of one that waits is over: it gets what is known.
    func end(_ one: Waiting) {
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
