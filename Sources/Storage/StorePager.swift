package import BridgeCore

/// Answers what readers want to know, one after another, on a thread of its own.
///
/// Any thread may call it; none waits for the disk but the one that closes it. It keeps nothing but what was not
/// fetched yet, so whoever asks decides how much that can become.
package final class StorePager: Sendable {
    package typealias Answer = Result<StoreAnswer, StorageError>

    private let desk: PagerDesk
    /// Nil once it is closed.
    private let thread: Guarded<StoreThread?>

    /// `wake` is called on another thread when there are answers.
    package init(_ store: Store, wake: @escaping @Sendable () -> Void) throws(StorageError) {
        let desk = PagerDesk(wake: wake)
        let work = PagerWork(desk: desk, path: store.path, options: store.options)
        self.desk = desk
        thread = Guarded(try StoreThread { work.run() })
    }

    deinit { close() }

    /// Asks; returns the number that the answer will have.
    package func ask(_ question: StoreQuestion) -> UInt64 { desk.ask(question) }

    /// What was answered since the last call.
    package func takeAnswers() -> [(number: UInt64, answer: Answer)] { desk.takeAnswers() }

    /// What was damaged where it was read, and passed over, since the beginning; nil: nothing.
    package var damage: StorageError? { desk.damage }

    /// Begins to close it, without waiting.
    package func beginClosing() { desk.close() }

    /// Leaves what was not answered yet.
    package func close() {
        desk.close()
        StoreThread.join(thread)
    }
}

/// Where those who ask and the thread meet.
private final class PagerDesk: Sendable {
    private struct State {
        var questions: [(number: UInt64, question: StoreQuestion)] = []
        var answers: [(number: UInt64, answer: StorePager.Answer)] = []
        var last: UInt64 = 0
        var damage: StorageError?
        var isClosing = false
    }

    private let state = Guarded(State())
    private let doorbell = Doorbell()
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    func ask(_ question: StoreQuestion) -> UInt64 {
        let number = state.withLock { state in
            state.last += 1
            state.questions.append((state.last, question))
            return state.last
        }
        doorbell.ring()
        return number
    }

    func takeAnswers() -> [(number: UInt64, answer: StorePager.Answer)] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    var damage: StorageError? { state.withLock(\.damage) }

    func close() {
        state.withLock { $0.isClosing = true }
        doorbell.ring()
    }

    // MARK: The side of the thread

    var isClosing: Bool { state.withLock(\.isClosing) }

    /// Waits for questions.
    func takeQuestions() -> [(number: UInt64, question: StoreQuestion)] {
        doorbell.wait(for: nil)
        return state.withLock { state in
            defer { state.questions = [] }
            return state.questions
        }
    }

    func note(_ damage: StorageError) {
        state.withLock { $0.damage = damage }
    }

    func give(_ answer: StorePager.Answer, to number: UInt64) {
        state.withLock { $0.answers.append((number, answer)) }
        wake()
    }
}

/// What the thread does.
private final class PagerWork {
    private let desk: PagerDesk
    private let path: String
    private let options: StoreOptions
    /// Opened with the first question, and anew after a failure.
    private var reader: StoreReader?
    /// Places that could not be read when they were last asked for.
    private var failing: [UInt64: Failing] = [:]

    private struct Failing {
        var since: Instant
        var count = 0
    }

    /// What fails at each of so many questions, and for so long, is as good as damaged: readers shall get past it.
    private static let mostFailures = 3
    private static let patience = Duration.seconds(10)
    /// Places that are remembered.
    private static let mostPlaces = 64

    init(desk: PagerDesk, path: String, options: StoreOptions) {
        self.desk = desk
        self.path = path
        self.options = options
    }

    func run() {
        while !desk.isClosing {
            for (number, question) in desk.takeQuestions() where !desk.isClosing {
                desk.give(answer(question), to: number)
            }
        }
    }

    private func answer(_ question: StoreQuestion) -> StorePager.Answer {
        do throws(StorageError) {
            if reader?.isCurrent == false { reader = nil }
            if reader == nil { reader = try StoreReader(path, vfs: options.vfs) }
            guard let reader else { return .failure(StorageError(.failing, path: path)) }
            reader.passesFailures = isHopeless(question.place)
            let answer = try reader.answer(question)
            if let damage = reader.damage { desk.note(damage) } else { failing[question.place] = nil }
            return .success(answer)
        } catch {
            reader = nil
            guard error.reason == .damaged else {
                noteFailure(at: question.place)
                return .failure(error)
            }
            desk.note(error)
            return .success(question.passed)
        }
    }

    private func isHopeless(_ place: UInt64) -> Bool {
        guard let failing = failing[place], failing.count >= PagerWork.mostFailures else { return false }
        return options.clock.monotonic() - failing.since >= PagerWork.patience
    }

    private func noteFailure(at place: UInt64) {
        if failing.count >= PagerWork.mostPlaces { failing = [:] }
        failing[place, default: Failing(since: options.clock.monotonic())].count += 1
    }
}
