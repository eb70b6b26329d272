import BridgeCore

/// A store that takes everything unless a test says otherwise, and has it answer what readers ask.
@MainActor final class StoreDouble: RecordStore {
    let recovery: StoreRecovery
    /// Answers a question, in the turn of the loop that follows.
    var answer: (StoreQuestion) -> StoreAnswer?
    /// What comes of the next offer.
    var verdict = RecordOffer.taken
    /// What was taken is not settled by itself, but by `settle(_:)`.
    var isHeld = false
    /// The payloads of all offers that were made, as text.
    private(set) var offered: [[String]] = []
    /// What it was told of records that it does not have.
    private(set) var unstored: [StoreFact] = []
    private var offers: [(Bool) -> Void] = []
    private var questions: [(StoreQuestion, (StoreAnswer?) -> Void)] = []

    init(answer: @escaping (StoreQuestion) -> StoreAnswer? = { _ in nil }) {
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
        offered.append(records.map { String(decoding: $0.payload, as: UTF8.self) })
        if verdict == .taken { offers.append(completion) }
        return verdict
    }

    func note(_ fact: StoreFact) {
        if case .unstored = fact { unstored.append(fact) }
    }

    func ask(_ question: StoreQuestion, completion: @escaping (StoreAnswer?) -> Void) {
        questions.append((question, completion))
    }

    /// It has something to do in the next turn.
    var hasWork: Bool { !isHeld && !offers.isEmpty || !questions.isEmpty }

    /// Says of the oldest batch that waits whether it is stored.
    func settle(_ isStored: Bool) { offers.removeFirst()(isStored) }

    /// Does what was asked for since the last call.
    func settle() {
        if !isHeld { while !offers.isEmpty { settle(true) } }
        let asked = questions
        questions = []
        for (question, completion) in asked { completion(answer(question)) }
    }
}
