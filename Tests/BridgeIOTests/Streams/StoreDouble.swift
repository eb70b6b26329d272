import BridgeCore

/// A store that takes everything, and has a test answer what readers ask.
@MainActor final class StoreDouble: RecordStore {
    let recovery: StoreRecovery
    /// Answers a question, in the turn of the loop that follows.
    var answer: (StoreQuestion) -> StoreAnswer?
    private var offers: [(Bool) -> Void] = []
    private var questions: [(StoreQuestion, (StoreAnswer?) -> Void)] = []

    init(answer: @escaping (StoreQuestion) -> StoreAnswer?) {
        var random = SystemRandomNumberGenerator()
        let epoch = Epoch(startedAt: WallTime(millisecondsSince1970: 0), random: &random)
        recovery = StoreRecovery(
            epoch: epoch,
            headSequence: 0,
            nextConnection: StoredConnectionID(number: 3)
        )
        self.answer = answer
    }

    func connection(_ name: String) -> StoredConnection {
        StoredConnection(id: StoredConnectionID(number: name == "default" ? 1 : 2), name: name)
    }

    func offer(records: some Sequence<StoredRecord>, completion: @escaping (Bool) -> Void) -> RecordOffer {
        offers.append(completion)
        return .taken
    }

    func note(_ fact: StoreFact) {}

    func ask(_ question: StoreQuestion, completion: @escaping (StoreAnswer?) -> Void) {
        questions.append((question, completion))
    }

    /// It has something to do in the next turn.
    var hasWork: Bool { !offers.isEmpty || !questions.isEmpty }

    /// Does what was asked for since the last call.
    func settle() {
        let (stored, asked) = (offers, questions)
        (offers, questions) = ([], [])
        for completion in stored { completion(true) }
        for (question, completion) in asked { completion(answer(question)) }
    }
}
