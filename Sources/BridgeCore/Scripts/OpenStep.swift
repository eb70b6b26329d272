/// A step of what is said after each open, before the connection is ready: an element of `onOpen`.
package struct OpenStep: Equatable, Sendable {
    package enum Deed: Equatable, Sendable {
        case send(MessageTemplate)
        case expect(Expectation)
    }

    /// The step is passed over unless this holds.
    package var condition: StepCondition?
    package var deed: Deed

    package init(_ deed: Deed, when condition: StepCondition? = nil) {
        self.deed = deed
        self.condition = condition
    }
}

/// A message without which a connection does not become ready.
package struct Expectation: Equatable, Sendable {
    package var matcher: Matcher
    /// For the message to come, once all that was sent before has been written.
    package var timeout = Duration.seconds(5)
    package var capture: Capture?
    /// Subscribers get to see it as well.
    package var isForwarded = false

    package init(_ matcher: Matcher) {
        self.matcher = matcher
    }
}

/// When a step runs.
package enum StepCondition: Equatable, Sendable {
    /// The message that was expected last is such a one.
    case message(Matcher)
    /// There is such a variable.
    case captured(String)
    case notCaptured(String)
}
