/// A step of `onOpen` while it is read.
struct OpenStepDraft: Sendable {
    var condition: StepCondition?
    var send: MessageTemplate?
    var matcher: Matcher?
    var timeout: Duration?
    var capture: Capture?
    var isForwarded: Bool?

    static let fields: [Field<OpenStepDraft>] = [
        .maybe("when", \.condition, .stepCondition),
        .maybe("send", \.send, .messageTemplate),
        .maybe("expect", \.matcher, .matcher),
        .maybe("timeout", \.timeout, .duration(.milliseconds(10) ... .seconds(3600))),
        .maybe("capture", \.capture, .capture),
        .maybe("forward", \.isForwarded, .flag),
    ]

    /// Keys that say more of what is expected.
    fileprivate static let details = ["timeout", "capture", "forward"]
}

extension OpenStep {
    /// More would be a program.
    static let most = 100

    /// A list of steps, of which those are nil with which something is wrong.
    static let list = Form<[OpenStep?]>.partialList(step)
        .checked { $0.count <= most ? nil : "there are more than \(most) steps" }

    private static let members = OpenStepDraft.fields.form(startingFrom: OpenStepDraft(), needed: [])

    private static let step = Form<OpenStep>(
        read: { node, reader in
            guard let draft = members.read(node, &reader) else { return nil }
            let given = reader.givenKeys(of: node)
            let deeds = ["send", "expect"].filter(given.contains)
            if deeds.count != 1 {
                reader.complain(node, "needs either send or expect")
            } else if deeds == ["send"] {
                for key in OpenStepDraft.details where given.contains(key) {
                    reader.inside(key) { $0.complainHere("belongs beside expect, not send") }
                }
            }
            return reader.isBrokenHere ? nil : OpenStep(draft)
        },
        write: { members.write(OpenStepDraft($0)) }
    )

    /// Nil without anything to do.
    private init?(_ draft: OpenStepDraft) {
        if let send = draft.send {
            self.init(.send(send), when: draft.condition)
        } else if let matcher = draft.matcher {
            var expectation = Expectation(matcher)
            if let timeout = draft.timeout { expectation.timeout = timeout }
            expectation.capture = draft.capture
            if let isForwarded = draft.isForwarded { expectation.isForwarded = isForwarded }
            self.init(.expect(expectation), when: draft.condition)
        } else {
            return nil
        }
    }
}

extension OpenStepDraft {
    fileprivate init(_ step: OpenStep) {
        condition = step.condition
        switch step.deed {
        case .send(let message):
            send = message
        case .expect(let expectation):
            matcher = expectation.matcher
            timeout = expectation.timeout
            capture = expectation.capture
            isForwarded = expectation.isForwarded
        }
    }
}

extension Form<StepCondition> {
    private static let keys = Form<Matcher>.keys + ["captured", "notCaptured"]

    /// A matcher of the last expected message, `{ captured: NAME }` or `{ notCaptured: NAME }`.
    static let stepCondition = Form(
        read: { node, reader in
            reader.onlyMember(of: node, among: keys) { member, reader in
                switch member.key {
                case "captured": name.read(member.value, &reader).map { .captured($0) }
                case "notCaptured": name.read(member.value, &reader).map { .notCaptured($0) }
                case _: Form<Matcher>.read(member, &reader).map { .message($0) }
                }
            }
        },
        write: { condition in
            switch condition {
            case .message(let matcher): Form<Matcher>.matcher.write(matcher)
            case .captured(let variable): .mapping([("captured", name.write(variable))])
            case .notCaptured(let variable): .mapping([("notCaptured", name.write(variable))])
            }
        }
    )

    private static let name = Form<String>.scalar(
        "the name of a captured variable",
        parse: { text throws(MalformedValue) in
            guard Capture.isName(text) else { throw MalformedValue("the name of a captured variable") }
            return text
        },
        write: { .quoted($0) }
    )
}

extension Form<Capture> {
    /// `{ NAME: POINTER, … }`.
    static let capture = Form<[(key: String, value: JSONPointer)]>
        .dictionary(.pointer) { name in
            Capture.isName(name) ? nil : "the name of a variable has 1 to 64 letters, digits and `_`"
        }
        .checked {
            $0.isEmpty ? "expected names and the pointers to what they are to hold, not nothing" : nil
        }
        .mapped(
            { pairs in Capture(pairs.map { (name: $0.key, pointer: $0.value) }) },
            back: { capture in zip(capture.names, capture.pointers).map { (key: $0, value: $1) } }
        )
}

extension Capture {
    fileprivate static func isName(_ text: String) -> Bool { PresetParameter.isName(text) }
}
