import BridgeCore
import FoundationEssentials
import WebSocketProtocol

/// Messages, and what a configuration looks for in them and answers with; either may hold anything.
///
/// What stands before the first byte `setup` is a pointer or a pattern, and the rest a message.
func fuzzScripts(_ bytes: [UInt8], setup: UInt8) {
    let parts = bytes.split(separator: setup, maxSplits: 1, omittingEmptySubsequences: false)
    let word = String(decoding: parts[0], as: UTF8.self)
    let payload = Array(parts.count > 1 ? parts[1] : [])
    let isText = setup & 1 == 0 && String(validating: payload, as: UTF8.self) != nil
    let message = Message(isText ? .text : .binary, payload)
    checkStructure(message)
    checkMeaning(of: message)
    checkTopic(of: message)
    checkIdentity(of: message, at: JSONPointer(word) ?? JSONPointer("/a/b"))
    checkPatterns(word, message)
    checkMachine(message, setup: setup)
}

/// Decodes anything at all, and looks at nothing of it.
private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
}

private func expanded(_ template: Template, _ message: Message) -> [UInt8]? {
    var values = TemplateValues(
        timeOfDay: WallTime(millisecondsSince1970: 0),
        counter: 1,
        sha256: { $0 }
    )
    var last = LastValues([JSONPointer("/x")].compactMap(\.self))
    last.received(message)
    values.message = message
    values.last = last
    var random = SystemRandomNumberGenerator()
    return template.expanded(with: values, random: &random)
}

/// Whatever a message has, a template of JSON keeps its structure.
private func checkStructure(_ message: Message) {
    let source = #"{"a":"{{/x}}","b":{{/y}},"c":["{{last:/x}}",{{last:/x}}],"d":"{{/0}} {{/x/0}}"}"#
    guard let template = try? Template(source), let bytes = expanded(template, message) else {
        preconditionFailure("a template that is right makes nothing")
    }
    precondition(String(validating: bytes, as: UTF8.self) != nil, "what is filled in is not UTF-8")
    // Foundation has bounds of its own.
    guard bytes.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }) < 500 else { return }
    let members = try? JSONDecoder().decode([String: Anything].self, from: Data(bytes))
    precondition(members?.keys.sorted() == ["a", "b", "c", "d"], "a value adds to the structure around it")
}

/// A string means what it means to others who read JSON.
private func checkMeaning(of message: Message) {
    struct Document: Decodable {
        var x: String
    }
    // Members of the same name are read in different ways.
    let hasOne = message.bytes.count { $0 == UInt8(ascii: "x") } == 1
    let mayHideOne = message.bytes.contains(UInt8(ascii: "u"))
    guard hasOne, !mayHideOne, let pointer = JSONPointer("/x"),
        let document = try? JSONDecoder().decode(Document.self, from: Data(message.bytes)),
        Matcher.json(JSONConditions([.init(pointer, nil)])).matches(message),
        let template = try? Template("{{sha256base64:{{/x}}}}"), let bytes = expanded(template, message)
    else { return }
    let meaning = Data(base64Encoded: String(decoding: bytes, as: UTF8.self)).map(Array.init)
    precondition(meaning == Array(document.x.utf8), "a string is read as another")
    let isEqual = Matcher.json(JSONConditions([.init(pointer, .string(document.x))])).matches(message)
    precondition(isEqual, "a string is not equal to what it means")
}

private func checkTopic(of message: Message) {
    guard let template = try? TopicTemplate("a.{{/x}}.{{/x/0}}.b") else { return }
    let topic = template.topic(of: message)
    let words = topic.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    precondition(words.count == 4 && words.allSatisfy { !$0.isEmpty }, "a value makes words")
    let isPlain = topic.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "*" && $0 != ">" }
    precondition(isPlain, "a value makes a pattern")
}

/// A request has its value where its reply is looked for, and the rest of it is as it was.
private func checkIdentity(of message: Message, at pointer: JSONPointer?) {
    guard let pointer, let place = message.correlationPlace(at: pointer) else { return }
    let request = message.identified(at: place) { Array("17".utf8) }
    guard let request else { preconditionFailure("there is a place, and nothing is put there") }
    var ledger = RequestLedger()
    ledger.accepted(1, .member(place, .counter))
    ledger.sent(1, request.key, on: SocketID(1))
    precondition(
        ledger.received(request.message, on: SocketID(1)) == [1],
        "a request is not found by its own value"
    )
    guard let again = request.message.correlationPlace(at: pointer) else {
        preconditionFailure("the value is gone")
    }
    let second = request.message.identified(at: again) { preconditionFailure("a second value is wanted") }
    precondition(second == request, "a request that has its value is another one")
}

/// What is no JSON has no values, and no pattern takes its time.
private func checkPatterns(_ word: String, _ message: Message) {
    let text = String(decoding: message.bytes, as: UTF8.self)
    let isFound = Matcher.contains(Needle(word)).matches(message)
    let isThere = message.kind == .text && (word.isEmpty || bytes(text).contains(bytes(word)))
    precondition(isFound == isThere, "a text is found where it is not, or the other way round")
    if let expression = try? RegularExpression(word) { _ = Matcher.regex(expression).matches(message) }
    if let template = try? Template(word) { _ = expanded(template, message) }
    if let template = try? TopicTemplate(word) { _ = template.topic(of: message) }
    _ = try? ResumeURL(word)
    _ = JSONNumber(word)
}

private func bytes(_ text: String) -> ContiguousBytesOfText { ContiguousBytesOfText(bytes: Array(text.utf8)) }

/// Looks for a run of bytes in the plainest way.
private struct ContiguousBytesOfText {
    var bytes: [UInt8]

    func contains(_ other: ContiguousBytesOfText) -> Bool {
        guard bytes.count >= other.bytes.count else { return false }
        return (0...bytes.count - other.bytes.count).contains { bytes[$0...].starts(with: other.bytes) }
    }
}

/// A connection whose rules do all that rules can do, which the message is for.
private func checkMachine(_ message: Message, setup: UInt8) {
    guard let settings = try? ConnectionSettings.busy else { preconditionFailure("the settings are wrong") }
    var machine = ConnectionMachine(settings, sha256: { $0 })
    var random = SystemRandomNumberGenerator()
    var now = Instant(nanoseconds: 1)
    let events: [ConnectionMachine.Event] = [
        .started, .socket(SocketID(1), .opened(subprotocol: nil, compression: false)),
        .socket(SocketID(1), .message(message)), .socket(SocketID(1), .message(message)),
        .socket(SocketID(2), .opened(subprotocol: nil, compression: false)),
        .socket(SocketID(2), .message(message)),
        .socket(SocketID(1), setup & 2 == 0 ? .message(message) : .ended(error: nil)), .drained(SocketID(1)),
        .timerFired(.init(UInt64(setup >> 2))), .socket(SocketID(2), .message(message)),
    ]
    for event in events {
        for action in machine.handle(event, now: now, random: &random) { check(action) }
        now += .seconds(1)
    }
}

private func check(_ action: ConnectionMachine.Action) {
    switch action {
    case .startTimer(_, let delay):
        precondition(delay >= .zero && delay <= .seconds(90_000), "a wait out of all reason")
    case .dialElsewhere(_, let url):
        precondition(!url.target.utf8.contains { $0 <= 0x20 } && url.credentials == nil, "no URL to follow")
    case .sendReply(_, let message, _), .sendScript(_, let message), .sendHeartbeat(_, let message):
        let isText = message.kind == .binary || String(validating: message.bytes, as: UTF8.self) != nil
        precondition(isText, "a text is not UTF-8")
    case _: break
    }
}

extension ConnectionSettings {
    fileprivate static var busy: ConnectionSettings {
        get throws {
            var settings = ConnectionSettings()
            let capture = [("x", "/x"), ("y", "/y/0")].compactMap { name, text in
                JSONPointer(text).map { (name: name, pointer: $0) }
            }
            var every = Rule(when: .any)
            every.reply = try MessageTemplate(text: #"{"x":"{{/x}}","y":{{var:y}},"n":{{counter}}}"#)
            every.capture = Capture(capture)
            every.heartbeatInterval = JSONPointer("/y")
            every.topic = try TopicTemplate("t.{{/x}}")
            var moving = Rule(
                when: .json(JSONConditions([JSONPointer("/x")].compactMap(\.self).map { .init($0, nil) }))
            )
            moving.action = .rotate(url: JSONPointer("/x"))
            moving.reply = try MessageTemplate(base64: "{{/y}}")
            settings.rules = [every, moving]
            var expectation = Expectation(.any)
            expectation.capture = every.capture
            settings.onOpen = [
                OpenStep(.expect(expectation)),
                OpenStep(.send(try MessageTemplate(text: "{{/x}} {{sha256base64:{{var:x}}}}"))),
            ]
            settings.resumeURL = try ResumeURL("{{var:x}}/{{var:y}}")
            settings.reconnect.resetAfter = .zero
            return settings
        }
    }
}
