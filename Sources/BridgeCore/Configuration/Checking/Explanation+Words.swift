internal import WebSocketProtocol

/// The parts of a connection in words. Payloads and what they are compared with are not told, as they may be secret.
extension OpenStep.Deed {
    var words: String {
        switch self {
        case .send(let message): return "sends \(message.words)"
        case .expect(let expectation):
            let forward = expectation.isForwarded ? ", which is forwarded as well" : ""
            let capture = expectation.capture.map { ", \($0.words)" } ?? ""
            return
                "waits for \(expectation.matcher.words), at most \(expectation.timeout.text)\(forward)\(capture)"
        }
    }
}

extension StepCondition {
    var words: String {
        switch self {
        case .message(let matcher): "the message that was waited for last is \(matcher.words)"
        case .captured(let name): "\(name) is captured"
        case .notCaptured(let name): "\(name) is not captured"
        }
    }
}

extension Capture {
    var words: String {
        "captures " + zip(names, pointers).map { "\($0) from \($1.text)" }.joined(separator: " and ")
    }
}

extension Rule {
    /// What it does, at least one thing.
    var deeds: [String] {
        var deeds: [String] = []
        if let reply { deeds.append("answers with \(reply.words)") }
        if let capture { deeds.append(capture.words) }
        if let heartbeatInterval {
            deeds.append("takes the interval of heartbeats from \(heartbeatInterval.text), in milliseconds")
        }
        switch action {
        case .reconnect: deeds.append("closes with \(closeCode) and dials again")
        case .rotate(let pointer):
            let place = pointer.map { " at the URL in \($0.text)" } ?? ""
            deeds.append("opens the next socket\(place) before it closes this one")
        case .stop: deeds.append("closes with \(closeCode) for good")
        case nil: break
        }
        if let topic { deeds.append("has the topic \(topic.source)") }
        if !isForwarded { deeds.append("is not forwarded") }
        return deeds
    }
}

extension HeartbeatSettings {
    /// What a heartbeat is, and its answer.
    var beatWords: String {
        switch send {
        case .ping: "sends a ping" + (expect == nil ? ", answered by a pong" : "")
        case .message(let message):
            "sends \(message.words)" + (expect == nil ? ", answered by the text pong" : "")
        case .none: "listens whether anything has come"
        }
    }
}

extension Matcher {
    var words: String {
        switch self {
        case .equals: "a certain text"
        case .contains: "a text with a certain part"
        case .prefix: "a text with a certain beginning"
        case .regex: "a text that matches an expression"
        case .binary: "certain bytes"
        case .json(let json): "JSON with \(json.conditions.map(\.words).joined(separator: " and "))"
        case .any: "any message"
        }
    }
}

extension JSONConditions.Condition {
    fileprivate var words: String {
        let place = pointer.text.isEmpty ? "the whole" : pointer.text
        switch value {
        case nil: return place
        case .string: return "a certain text at \(place)"
        case .number(let number):
            return "\(number.text.isEmpty ? "a certain number" : number.text) at \(place)"
        case .bool(let isTrue): return "\(isTrue) at \(place)"
        }
    }
}

extension MessageTemplate {
    var words: String {
        let name = kind == .text ? "a text" : "bytes"
        let parts = template.parts
        return parts.isEmpty ? name : "\(name) with \(parts.joined(separator: " and "))"
    }
}

extension Template {
    /// What is filled in, each once.
    fileprivate var parts: [String] {
        var parts: [String] = []
        for part in pieces.compactMap({ words(of: $0) }) where !parts.contains(part) { parts.append(part) }
        return parts
    }

    private func words(of piece: Piece) -> String? {
        switch piece {
        case .text: nil
        case .value(.message(let number), _): "\(pointers[number].text) of the message"
        case .value(.last(let pointer), _): "the newest \(pointer.text)"
        case .value(.variable(let name), _): "the captured \(name)"
        case .now, .nowMilliseconds: "the time"
        case .uuid: "a random id"
        case .counter: "its number on the socket"
        case .digest: "a hash"
        }
    }
}

extension URLSource {
    /// Whom or where, secrets masked.
    var words: String {
        switch self {
        case .listed(let urls): return urls.map(\.masked).joined(separator: ", then ")
        case .asked(.http(let provider), _):
            let url = "http" + provider.url.masked.dropFirst(2)
            return "the URL that \(provider.effectiveMethod) \(url) gives before each attempt"
        case .asked(.command(let words), _):
            let program = Problem.quotable(words.first ?? "", limit: 4096)
            return "the URL that the command \(program) prints before each attempt"
        }
    }
}
