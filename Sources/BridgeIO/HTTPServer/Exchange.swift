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
    }

    /// The raw request target, neither decoded nor cut.
    let target: [UInt8]
    let client: ClientConnection
    private var progress = Progress.waitingForHead
    /// Where it is counted; nil as long as it is not admitted.
    private(set) var row: HTTPTally.Row?
    /// It does not count as under way.
    var isStream = false

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
        case closeConnection
    }

    /// The head is there, and the request may be served.
    func admit(_ admitted: AdmittedHead) -> Step {
        progress = .receiving(admitted, admitted.request.body)
        row = admitted.row
        return .proceed
    }

    /// The head is there, and all that there is to say is `response`.
    func refuse(_ head: RequestHead, _ response: HTTPResponse) -> Step {
        guard Exchange.waits(response, for: head) else {
            progress = .answered
            return .answer(.response(response), head)
        }
        progress = .discarding(head, response, patience: Exchange.discardedBytes)
        return .proceed
    }

    /// Some of the body is there.
    func received(_ chunk: UnsafeRawBufferPointer) -> Step {
        if case .discarding(let head, let response, let patience) = progress {
            progress = .discarding(head, response, patience: patience - chunk.count)
            return chunk.count > patience ? .closeConnection : .proceed
        }
        guard case .receiving(let admitted, var body) = progress else { return .proceed }
        // Out of the way while it grows, so that it is not copied.
        progress = .answered
        let verdict = unsafe body.receive(chunk)
        progress = .receiving(admitted, body)
        switch verdict {
        case .proceed: return .proceed
        case .close: return .closeConnection
        }
    }

    /// All of the body is there.
    @MainActor func completed(handler: any HTTPHandler) -> Step {
        if case .discarding(let head, let response, _) = progress {
            progress = .answered
            return .answer(.response(response), head)
        }
        if case .held(let held) = progress { return .demand(held) }
        guard case .receiving(let admitted, let body) = progress else { return .proceed }
        progress = .answered
        let head = admitted.head
        do throws(Problem) {
            let body = try body.finish()
            return .answer(handler.serve(admitted.request, body: body, from: head), head)
        } catch {
            let response = HTTPResponse(error).adding(admitted.request.fields)
            return .answer(.response(response), head)
        }
    }

    /// The answer will come from there.
    func hold(_ held: HeldAnswer) { progress = .held(held) }

    /// Where the answer comes from, if it was not known at once.
    var held: HeldAnswer? {
        switch progress {
        case .held(let held): held
        case .waitingForHead, .receiving, .discarding, .answered: nil
        }
    }

    var isWaitingForHead: Bool {
        switch progress {
        case .waitingForHead: true
        case .receiving, .discarding, .held, .answered: false
        }
    }

    /// The answer, if it is to be used again once the daemon is done with this request.
    private(set) var prepared: PreparedAnswer?

    /// The answer goes out in this form.
    func use(_ prepared: PreparedAnswer) { self.prepared = prepared }

    /// What of a refused request's body is read, so that its connection can be kept.
    private static let discardedBytes = 4 << 20

    /// Whether to answer only after the body, since libmicrohttpd closes a connection that is answered before.
    private static func waits(_ response: HTTPResponse, for head: RequestHead) -> Bool {
        guard !response.closesConnection, head.value(of: "expect") == nil else { return false }
        guard let length = head.value(of: "content-length") else { return true }
        return Int(length).map { $0 <= discardedBytes } ?? false
    }
}
