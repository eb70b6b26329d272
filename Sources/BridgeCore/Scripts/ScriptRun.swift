internal import WebSocketProtocol

/// How far a socket has come with the steps of `onOpen`.
///
/// The steps themselves are those of the settings; a run is copied with every message.
struct ScriptRun: Sendable {
    /// What is to be done now.
    enum Turn: Equatable {
        /// This is to be sent, and then the next turn taken.
        case send(MessageTemplate)
        /// A message is waited for, for so long.
        case expect(Duration)
        case done
    }

    /// The step that runs, or comes next.
    private(set) var index = 0
    /// The message that was expected last, and came.
    private(set) var message: Message?
    /// Frames that were sent and that the kernel has not taken yet.
    var unwritten = 0
    /// Ends the wait for a message.
    var deadline: ConnectionMachine.TimerID?
    /// Its URL was that of a session to resume.
    let isResumption: Bool

    init(isResumption: Bool) {
        self.isResumption = isResumption
    }

    /// The step that comes next, after those that are passed over.
    mutating func next(of steps: [OpenStep], _ variables: Variables) -> Turn {
        while index < steps.count {
            let step = steps[index]
            guard holds(step.condition, variables) else {
                index += 1
                continue
            }
            switch step.deed {
            case .send(let template):
                index += 1
                return .send(template)
            case .expect(let expectation):
                return .expect(expectation.timeout)
            }
        }
        return .done
    }

    private func holds(_ condition: StepCondition?, _ variables: Variables) -> Bool {
        switch condition {
        case nil: true
        case .message(let matcher): message.map(matcher.matches) ?? false
        case .captured(let name): variables.has(name)
        case .notCaptured(let name): !variables.has(name)
        }
    }

    /// Takes a message in; what was expected, if it is that.
    mutating func take(_ message: Message, of steps: [OpenStep]) -> Expectation? {
        guard index < steps.count, case .expect(let expectation) = steps[index].deed,
            expectation.matcher.matches(message)
        else { return nil }
        self.message = message
        index += 1
        return expectation
    }
}
