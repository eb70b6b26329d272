/// Looks at what a connection says and answers by itself: parts that are right alone and contradict one another.
struct ScriptChecks {
    /// The variables that something captures; nil where that is not known.
    let captured: Set<String>?

    private let steps: [OpenStep?]
    private let rules: [Rule?]
    private let settings: ConnectionSettings

    init(_ draft: ConnectionDraft, _ reader: ConfigurationReader) {
        steps = draft.steps
        rules = draft.rules
        settings = draft.settings
        let isKnown = !reader.isBroken("onOpen") && !reader.isBroken("rules")
        captured = isKnown ? draft.settings.captured : nil
    }

    /// The reader is inside of the connection.
    func check(_ reader: inout ConfigurationReader) {
        reader.inside("resumeUrl") { $0.requireCaptured(settings.resumeURL?.variables ?? [], captured) }
        reader.inside("onOpen") { checkSteps(&$0) }
        reader.inside("rules") { checkRules(&$0) }
        if settings.receiveOnly, settings.request != RequestSettings(), !reader.isBroken("request") {
            reader.inside("request") { $0.complainHere("is of no use: receiveOnly rules out requests") }
        }
    }

    private func checkSteps(_ reader: inout ConfigurationReader) {
        // What is wrong with a step may hide that it expects something.
        var hasMessage = false
        for (index, step) in steps.enumerated() {
            guard let step else {
                hasMessage = true
                continue
            }
            reader.inside(index) { check(step, hasMessage: hasMessage, &$0) }
            if case .expect = step.deed { hasMessage = true }
        }
    }

    private func check(_ step: OpenStep, hasMessage: Bool, _ reader: inout ConfigurationReader) {
        reader.inside("when") { reader in
            switch step.condition {
            case nil: break
            case .message:
                if !hasMessage { reader.complainHere("is of a message, and no step before expects one") }
            case .captured(let name):
                reader.inside("captured") { $0.requireCaptured([name], captured) }
            case .notCaptured(let name):
                reader.inside("notCaptured") { $0.requireCaptured([name], captured) }
            }
        }
        guard case .send(let message) = step.deed else { return }
        reader.inside("send") { reader in
            if settings.receiveOnly { reader.complainHere("is a message, which receiveOnly rules out") }
            message.check(hasMessage: hasMessage, captured: captured, &reader)
        }
    }

    private func checkRules(_ reader: inout ConfigurationReader) {
        for (index, rule) in rules.enumerated() {
            guard let reply = rule?.reply else { continue }
            reader.inside(index) { reader in
                reader.inside("reply") { reader in
                    if settings.receiveOnly {
                        reader.complainHere("is a message, which receiveOnly rules out")
                    }
                    reply.check(hasMessage: true, captured: captured, &reader)
                }
            }
        }
    }
}
