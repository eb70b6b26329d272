internal import BridgeCore

/// A head that passed, and what was found out about it on the way.
nonisolated final class AdmittedHead: Sendable {
    let head: RequestHead
    let request: AdmittedRequest

    init(_ head: RequestHead, _ request: AdmittedRequest) {
        self.head = head
        self.request = request
    }
}

/// What was decided about heads that passed: a program that talks to the bridge sends the same one all the time.
///
/// `HTTPHandler.admit` depends on nothing but the head and the handler's rules, so the decision about the same
/// bytes under the same rules is the same. Refusals are found anew each time.
struct AdmissionMemo {
    private static let capacity = 256
    /// Longer heads, which are those of browsers with many cookies, are read each time.
    private static let longestImage = 1024

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
    mutating func remember(_ head: AdmittedHead, _ image: HeadImage) {
        guard image.count <= AdmissionMemo.longestImage else { return }
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
        if exchange.client.isCrowded { return refuseCrowded(received.head, for: exchange) }
        received.draw(&headImage)
        if let admitted = admissions.find(headImage, under: handler.rules) { return exchange.admit(admitted) }
        let head = received.head
        switch handler.admit(head) {
        case .answer(let response):
            return exchange.refuse(head, response)
        case .serve(let request):
            let admitted = AdmittedHead(head, request)
            admissions.remember(admitted, headImage)
            return exchange.admit(admitted)
        }
    }
}
