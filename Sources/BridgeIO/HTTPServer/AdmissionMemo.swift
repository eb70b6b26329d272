internal import BridgeCore

/// A head that passed, and what was found out about it on the way.
nonisolated final class AdmittedHead: Sendable {
    let head: RequestHead
    let request: AdmittedRequest
    /// Under which rules.
    let rules: Int
    /// Nil: it is not to be recognised when it comes again.
    let image: HeadImage?
    /// Where its requests are counted.
    let row: HTTPTally.Row

    init(_ head: RequestHead, _ request: AdmittedRequest, rules: Int, image: HeadImage?) {
        self.head = head
        self.request = request
        self.rules = rules
        self.image = image
        row = HTTPTally.Row(request.route.resource, method: head.method)
    }
}

/// What was decided about heads that passed: a program that talks to the bridge sends the same one all the time.
///
/// `HTTPHandler.admit` depends on nothing but the head and the handler's rules, so the decision about the same
/// bytes under the same rules is the same. Refusals are found anew each time.
struct AdmissionMemo {
    private static let capacity = 256

    private var rules = 0
    private var admitted: [HeadImage: AdmittedHead] = [:]

    /// What was found out about a head with this image under these rules.
    mutating func find(_ image: HeadImage, under rules: Int) -> AdmittedHead? {
        if rules != self.rules {
            admitted.removeAll()
            self.rules = rules
        }
        return admitted[image]
    }

    /// Remembers what was found out under the rules of the last search.
    mutating func remember(_ head: AdmittedHead) {
        guard let image = head.image else { return }
        // Whoever sends the same again is back at once; who never does so costs no more than without a memo.
        if admitted.count >= AdmissionMemo.capacity { admitted.removeAll() }
        admitted[image] = head
    }
}

extension HTTPServer {
    /// A request's head is there.
    func received(_ received: ReceivedHead, for exchange: Exchange) -> Exchange.Step {
        if let selfCheck, selfCheck.target == exchange.target {
            return .answer(selfCheck.answer, received.head)
        }
        let client = exchange.client
        if client.isCrowded { return refuseCrowded(received.head, for: exchange) }
        received.draw(on: canvas)
        // Most clients that stay send one kind of request.
        if let last = client.lastHead, last.rules == handler.rules, let image = last.image,
            canvas.shows(image)
        {
            return exchange.admit(last)
        }
        let image = canvas.image
        if let image, let admitted = admissions.find(image, under: handler.rules) {
            client.lastHead = admitted
            return exchange.admit(admitted)
        }
        let head = received.head
        switch handler.admit(head) {
        case .answer(let response):
            return exchange.refuse(head, response)
        case .serve(let request):
            let admitted = AdmittedHead(head, request, rules: handler.rules, image: image)
            admissions.remember(admitted)
            client.lastHead = admitted
            return exchange.admit(admitted)
        }
    }
}
