internal import BridgeCore

/// One request and its answer, from the request line to the last byte.
nonisolated final class Exchange {
    /// How far the request has got.
    private enum Progress {
        case waitingForHead
        case receiving(AdmittedHead, BodyIntake)
        /// The answer waits until so many bytes at most have been thrown away.
        case discarding(RequestHead, HTTPResponse, patience: Int)
        /// The answer is not known yet.
        case held(HeldAnswer)
        case answered
        /// An answer went past the daemon, which has to close the connection.
        case brokenOff
    }

    /// The raw request target, neither decoded nor cut.
    let target: [UInt8]
    let client: ClientConnection
    private var progress = Progress.waitingForHead
    /// Where it is counted; nil as long as it is not admitted.
    private(set) var row: HTTPTally.Row?
    /// It does not count as under way.
    var isStream = false
    /// In how many parts its body has come so far.
    private(set) var parts = 0
    /// What of its body counts as in arrival.
    private var arrival = BodyRoom.Place()

    init(target: [UInt8], client: ClientConnection) {
        self.target = target
        self.client = client
    }

    /// What the server is to do next.
    enum Step {
        case proceed
        case answer(HTTPAnswer, RequestHead)
        /// What was held may be there now.
        case demand(HeldAnswer)
        /// To be answered past the daemon, which takes no answer while a body arrives.
        case breakOff(HTTPResponse)
        case closeConnection
    }

    /// The head is there, and the request may be served.
    func admit(_ admitted: AdmittedHead) -> Step {
        progress = .receiving(admitted, admitted.request.body)
        row = admitted.row
        return .proceed
    }

    /// The head is there, and all that there is to say is `response`.
    @MainActor func refuse(_ head: RequestHead, _ response: HTTPResponse) -> Step {
        guard Exchange.waits(response, for: head) else {
            progress = .answered
            client.maySendMore = Exchange.announcesBody(head)
            return .answer(.response(response), head)
        }
        progress = .discarding(head, response, patience: Exchange.discardedBytes)
        return .proceed
    }

    /// Some of the body is there, and is kept if it has a place in the `room`.
    func received(_ chunk: UnsafeRawBufferPointer, room: inout BodyRoom) -> Step {
        parts += 1
        switch progress {
        case .discarding(let head, let response, let patience):
            progress = .discarding(head, response, patience: patience - chunk.count)
            return chunk.count > patience ? .breakOff(response) : .proceed
        case .receiving(let admitted, var body):
            // Out of the way while it grows, so that it is not copied.
            progress = .answered
            guard body.discards || room.take(chunk.count, for: &arrival) else {
                room.free(&arrival)
                refuse(admitted, HTTPResponse(.tooManyBodies(limit: room.limit)))
                return .proceed
            }
            let verdict = unsafe body.receive(chunk)
            if body.discards { room.free(&arrival) }
            progress = .receiving(admitted, body)
            switch verdict {
            case .proceed: return .proceed
            case .close:
                let problem = Problem.messageTooLarge(limit: body.limit)
                return .breakOff(HTTPResponse(problem).adding(admitted.request.fields))
            }
        case .brokenOff: return .closeConnection
        case .waitingForHead, .held, .answered: return .proceed
        }
    }

    /// The rest of the body is not wanted any more.
    private func refuse(_ admitted: AdmittedHead, _ response: HTTPResponse) {
        let response = response.adding(admitted.request.fields)
        progress = .discarding(admitted.head, response, patience: Exchange.discardedBytes)
    }

    /// All of the body is there.
    @MainActor func completed(handler: any HTTPHandler) -> Step {
        switch progress {
        case .discarding(let head, let response, _):
            progress = .answered
            client.maySendMore = false
            return .answer(.response(response), head)
        case .held(let held): return .demand(held)
        case .receiving(let admitted, let body):
            progress = .answered
            client.maySendMore = false
            let head = admitted.head
            do throws(Problem) {
                let body = try body.finish()
                return .answer(handler.serve(admitted.request, body: body, from: head), head)
            } catch {
                let response = HTTPResponse(error).adding(admitted.request.fields)
                return .answer(.response(response), head)
            }
        case .brokenOff: return .closeConnection
        case .waitingForHead, .answered: return .proceed
        }
    }

    /// The request is not there in time: what its client is to be told, unless that got an answer already.
    func lateAnswer() -> HTTPResponse? {
        switch progress {
        case .waitingForHead: HTTPResponse(.requestTimeout)
        case .receiving(let admitted, _): HTTPResponse(.requestTimeout).adding(admitted.request.fields)
        case .discarding(_, let response, _): response
        case .held, .answered, .brokenOff: nil
        }
    }

    /// Nothing more can be understood of the body: what its client is to be told.
    func stuckAnswer() -> HTTPResponse? {
        switch progress {
        case .receiving(let admitted, _):
            HTTPResponse(.endlessLine).adding(admitted.request.fields)
        case .discarding(_, let response, _): response
        case .waitingForHead, .held, .answered, .brokenOff: nil
        }
    }

    /// There may be more of the body to come.
    var isReceivingBody: Bool {
        switch progress {
        case .receiving, .discarding: true
        case .waitingForHead, .held, .answered, .brokenOff: false
        }
    }

    /// The client was answered past the daemon.
    func isBrokenOff() { progress = .brokenOff }

    /// It is over, and gives back what its body took of the `room`.
    func end(room: inout BodyRoom) { room.free(&arrival) }

    /// The answer will come from there.
    func hold(_ held: HeldAnswer) { progress = .held(held) }

    /// Where the answer comes from, if it was not known at once.
    var held: HeldAnswer? {
        switch progress {
        case .held(let held): held
        case .waitingForHead, .receiving, .discarding, .answered, .brokenOff: nil
        }
    }

    var isWaitingForHead: Bool {
        switch progress {
        case .waitingForHead: true
        case .receiving, .discarding, .held, .answered, .brokenOff: false
        }
    }

    /// The answer, if it is to be used again once the daemon is done with this request.
    private(set) var prepared: PreparedAnswer?

    /// The answer goes out in this form.
    func use(_ prepared: PreparedAnswer) { self.prepared = prepared }

    /// What of a refused request's body is read, so that its connection can be kept.
    private static let discardedBytes = 4 << 20

    private static func announcesBody(_ head: RequestHead) -> Bool {
        if head.value(of: "transfer-encoding") != nil { return true }
        return head.value(of: "content-length").map { $0 != "0" } ?? false
    }

    /// Whether to answer only after the body, since libmicrohttpd closes a connection that is answered before.
    private static func waits(_ response: HTTPResponse, for head: RequestHead) -> Bool {
        guard !response.closesConnection, head.value(of: "expect") == nil else { return false }
        guard let length = head.value(of: "content-length") else { return true }
        return Int(length).map { $0 <= discardedBytes } ?? false
    }
}
