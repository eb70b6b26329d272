internal import WebSocketProtocol

/// A rule while it is read.
struct RuleDraft: Sendable {
    /// What a rule can do to the connection.
    enum Action: String, CaseIterable, Sendable {
        case reconnect
        case rotate
        case stop
    }

    var condition: Matcher?
    var reply: MessageTemplate?
    var capture: Capture?
    var heartbeatInterval: JSONPointer?
    var action: Action?
    var urlPointer: JSONPointer?
    var closeCode: UInt16?
    var isForwarded = true
    var topic: TopicTemplate?

    static let fields: [Field<RuleDraft>] = [
        Field("when", \.condition, .required(.matcher)),
        .maybe("reply", \.reply, .messageTemplate),
        .maybe("capture", \.capture, .capture),
        .maybe("heartbeatInterval", \.heartbeatInterval, .pointer),
        .maybe("action", \.action, .word()),
        .maybe("urlPointer", \.urlPointer, .pointer),
        .maybe("closeCode", \.closeCode, .closeCode),
        Field("forward", \.isForwarded, .flag),
        .maybe("topic", \.topic, .topic),
    ]
}

extension Rule {
    /// Each message is held against every one of them.
    static let most = 1000

    /// A list of rules, of which those are nil with which something is wrong.
    static let list = Form<[Rule?]>.partialList(rule)
        .checked { $0.count <= most ? nil : "there are more than \(most) rules" }

    private static let members = RuleDraft.fields.form(startingFrom: RuleDraft(), needed: ["when"])

    private static let rule = Form<Rule>(
        read: { node, reader in
            guard let draft = members.read(node, &reader) else { return nil }
            let given = reader.givenKeys(of: node)
            if !reader.isBroken("action") {
                if given.contains("urlPointer"), draft.action != .rotate {
                    reader.inside("urlPointer") { $0.complainHere("needs action: rotate beside it") }
                }
                if given.contains("closeCode"), draft.action != .reconnect, draft.action != .stop {
                    reader.inside("closeCode") {
                        $0.complainHere("needs action: reconnect or action: stop beside it")
                    }
                }
            }
            guard !reader.isBrokenHere, let rule = Rule(draft) else { return nil }
            if rule.isIdle {
                reader.complain(node, "does nothing; all that match are forwarded anyway")
            }
            return rule
        },
        write: { members.write(RuleDraft($0)) }
    )

    /// Nil without a condition.
    private init?(_ draft: RuleDraft) {
        guard let condition = draft.condition else { return nil }
        self.init(when: condition)
        reply = draft.reply
        capture = draft.capture
        heartbeatInterval = draft.heartbeatInterval
        switch draft.action {
        case .reconnect: action = .reconnect
        case .rotate: action = .rotate(url: draft.urlPointer)
        case .stop: action = .stop
        case nil: break
        }
        if let code = draft.closeCode { closeCode = code }
        isForwarded = draft.isForwarded
        topic = draft.topic
    }

    /// It makes no difference to anything.
    private var isIdle: Bool { self == Rule(when: condition) }
}

extension RuleDraft {
    fileprivate init(_ rule: Rule) {
        condition = rule.condition
        reply = rule.reply
        capture = rule.capture
        heartbeatInterval = rule.heartbeatInterval
        switch rule.action {
        case .reconnect:
            action = .reconnect
            closeCode = rule.closeCode
        case .rotate(let pointer):
            action = .rotate
            urlPointer = pointer
        case .stop:
            action = .stop
            closeCode = rule.closeCode
        case nil: break
        }
        isForwarded = rule.isForwarded
        topic = rule.topic
    }
}

extension Form<TopicTemplate> {
    static let topic = scalar(
        "a topic such as orders.{{/symbol}}",
        parse: { text throws(MalformedValue) in try TopicTemplate(text) },
        write: { .quoted($0.source) }
    )
}

extension RequestSettings {
    static let fields: [Field<RequestSettings>] = [
        Field("correlate", \.correlate, .optional(.pointer)),
        Field("id", \.id, .word()),
    ]

    /// A mapping, or null for the defaults.
    static let form = Form<RequestSettings>(
        read: { node, reader in
            guard !reader.isNull(node) else { return RequestSettings() }
            return fields.form(startingFrom: RequestSettings(), needed: []).read(node, &reader)
        },
        write: { fields.write($0) }
    )
}

extension Form<ResumeURL> {
    /// What surrounds the variables may be secret, so it is masked.
    static let resumeURL = scalar(
        "a URL in which {{var:NAME}} stands",
        isSecret: true,
        isTemplate: true,
        parse: { text throws(MalformedValue) in try ResumeURL(text) },
        write: { url in
            .quoted(url.variables.map { "{{var:\($0)}}" }.joined(separator: secretMask) + secretMask)
        }
    )
}
