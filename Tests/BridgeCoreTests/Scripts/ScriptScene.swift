import Testing
import WebSocketProtocol

@testable import BridgeCore

/// Short words for what scripts and rules are made of.
enum Scripted {
    static func send(_ text: String, when condition: StepCondition? = nil) throws -> OpenStep {
        OpenStep(.send(try MessageTemplate(text: text)), when: condition)
    }

    static func expect(
        _ matcher: Matcher,
        capture: [(String, String)] = [],
        forward: Bool = false,
        timeout: Duration = .seconds(5),
        when condition: StepCondition? = nil
    ) throws -> OpenStep {
        var expectation = Expectation(matcher)
        expectation.timeout = timeout
        expectation.isForwarded = forward
        expectation.capture = capture.isEmpty ? nil : try Scripted.capture(capture)
        return OpenStep(.expect(expectation), when: condition)
    }

    static func capture(_ variables: [(String, String)]) throws -> Capture {
        Capture(try variables.map { name, pointer in (name, try #require(JSONPointer(pointer))) })
    }

    static func json(_ pointer: String, _ value: String) throws -> Matcher {
        .json(JSONConditions([.init(try #require(JSONPointer(pointer)), .string(value))]))
    }

    static func rule(_ matcher: Matcher, _ configure: (inout Rule) throws -> Void = { _ in }) throws -> Rule {
        var rule = Rule(when: matcher)
        try configure(&rule)
        return rule
    }
}

extension ConnectionWorld {
    /// A world that was started and whose handshake is done.
    static func greeted(_ configure: (inout ConnectionSettings) throws -> Void) throws -> ConnectionWorld {
        var settings = ConnectionSettings()
        try configure(&settings)
        var world = ConnectionWorld { $0 = settings }
        try world.tell(.started)
        try world.socket(.plainlyOpened)
        return world
    }

    var saidTexts: [String] { said.map { String(decoding: $0.bytes, as: UTF8.self) } }
    var deliveredTexts: [String] { delivered.map { String(decoding: $0.bytes, as: UTF8.self) } }

    /// The kernel takes all that the script has sent on a socket.
    mutating func writeScript(_ count: Int, on socket: SocketID? = nil) throws {
        for _ in 0..<count { try tell(.frameWritten(socket ?? id, .script)) }
    }

    var failures: [DialFailure] {
        records.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
}

extension WebSocketURL {
    /// As it comes in a message: nobody is shown its path.
    static func hidden(_ text: String) throws -> WebSocketURL {
        var url = try WebSocketURL(text)
        url.hidesPath = true
        return url
    }
}

extension [ConnectionMachine.Action] {
    var replyTexts: [String] { replies.map { String(decoding: $0.bytes, as: UTF8.self) } }

    var elsewhere: [WebSocketURL] {
        compactMap { if case .dialElsewhere(_, let url) = $0 { url } else { nil } }
    }
}
