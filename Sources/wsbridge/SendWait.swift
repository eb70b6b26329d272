internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// A request that waits until its messages were sent, with its repeats that came meanwhile.
final class SendWait {
    private struct Waiting {
        let held: HeldAnswer
        let fields: [HTTPField]
    }

    var consignment: Consignment
    let isList: Bool
    /// That of the request, if it has one.
    let key: String?
    var deadline: LoopTimer?
    private var waiting: [Waiting] = []

    init(_ consignment: Consignment, isList: Bool, key: String?) {
        self.consignment = consignment
        self.isList = isList
        self.key = key
    }

    /// Nobody waits any more.
    var isDeserted: Bool { waiting.isEmpty }

    /// Whoever gets `held` waits too, and `fields` go with the answer.
    ///
    /// A client that can wait no longer is told what is known by then; afterwards `onLeave` is called.
    func join(_ held: HeldAnswer, fields: [HTTPField], onLeave: @escaping () -> Void) {
        waiting.append(Waiting(held: held, fields: fields))
        held.onLastCall = { [unowned self, unowned held] in
            waiting.removeAll { $0.held === held }
            held.give(consignment.answer(isList: isList).adding(fields))
            onLeave()
        }
    }

    /// Gives everyone the answer.
    func finish(_ answer: HTTPResponse) {
        let everyone = waiting
        waiting = []
        for one in everyone { one.held.give(answer.adding(one.fields)) }
    }
}
