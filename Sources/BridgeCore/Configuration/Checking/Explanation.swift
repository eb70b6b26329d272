internal import WebSocketProtocol

/// What a connection will do, in words for people, as `wsbridge check --explain` prints it.
///
/// It holds no secrets.
struct Explanation {
    private(set) var text: String

    private let settings: ConnectionSettings
    private let source: URLSource?
    private let upstream: UpstreamSettings

    init(_ title: String, _ source: URLSource?, _ upstream: UpstreamSettings, _ settings: ConnectionSettings)
    {
        text = title + "\n"
        self.source = source
        self.upstream = upstream
        self.settings = settings
        tellOfDialling()
        tellOfOpening()
        tellOfHeartbeats()
        tellOfRules()
        tellOfSending()
        tellOfReconnecting()
    }

    /// What a preset has to be told.
    mutating func add(_ parameters: [PresetParameter]) {
        guard !parameters.isEmpty else { return }
        say("Parameters:")
        for parameter in parameters {
            let variable = parameter.variable.map { ", or the environment variable \($0)" } ?? ""
            let isNeeded = parameter.standard == nil ? "needed" : "optional"
            let summary = parameter.summary.map { ": \(Problem.quotable($0, limit: 1000))" } ?? ""
            item("\(parameter.name)\(variable); \(isNeeded)\(summary)")
        }
    }

    private mutating func say(_ sentence: String) { text += "  \(sentence)\n" }

    private mutating func item(_ sentence: String) { text += "    - \(sentence)\n" }

    private mutating func number(_ index: Int, _ sentence: String) {
        text += "    \(index + 1). \(sentence)\n"
    }

    // MARK: Parts

    private mutating func tellOfDialling() {
        let start =
            switch settings.connect {
            case .always: "at the start"
            case .onDemand: "while somebody reads or sends, and for \(settings.idleTimeout.text) after that"
            case .manual: "when a client asks for it (POST …/connect)"
            }
        say("Connects \(start) to \(source?.words ?? "the URL of the connection").")
        if let resume = settings.resumeURL {
            let names = resume.variables.joined(separator: " and ")
            let verb = resume.variables.count == 1 ? "is" : "are"
            say("While \(names) \(verb) captured, it goes on at the URL made of that.")
        }
        if !upstream.headers.isEmpty {
            say("Sends the header fields \(upstream.headers.map(\.name).joined(separator: ", ")).")
        }
        if !upstream.subprotocols.isEmpty {
            say("Offers the subprotocols \(upstream.subprotocols.joined(separator: ", ")).")
        }
    }

    private mutating func tellOfOpening() {
        guard !settings.onOpen.isEmpty else { return say("Is ready as soon as it is open.") }
        say("After each open, in this order, and is ready after the last one:")
        for (index, step) in settings.onOpen.enumerated() {
            number(index, (step.condition.map { "if \($0.words): " } ?? "") + step.deed.words)
        }
    }

    private mutating func tellOfHeartbeats() {
        let heartbeat = settings.heartbeat
        if heartbeat.interval == .zero {
            say("Sends no heartbeats.")
        } else {
            let first = heartbeat.first == .random ? ", the first one after a random part of that" : ""
            let isTold = settings.rules.contains { $0.heartbeatInterval != nil }
            let change = isTold ? ", until a rule tells another interval" : ""
            say("Every \(heartbeat.interval.text)\(first)\(change), \(heartbeat.beatWords).")
            let life =
                switch heartbeat.alive {
                case .any: "with nothing at all arriving"
                case .message: "without any message"
                case .answer: "without that answer"
                }
            let close = heartbeat.closeCode.map { "is closed with \($0)" } ?? "is dropped"
            say("After \(heartbeat.missLimit) in a row \(life) the connection counts as lost and \(close).")
        }
        if let answer = heartbeat.expect {
            let reply = heartbeat.reply.map { ", and is answered with \($0.words)" } ?? ""
            say("What is an answer to heartbeats (\(answer.words)) is not forwarded\(reply).")
        }
    }

    private mutating func tellOfRules() {
        guard !settings.rules.isEmpty else { return }
        say("Of each message that arrives, all that apply, in this order:")
        for (index, rule) in settings.rules.enumerated() {
            number(index, "\(rule.condition.words): \(rule.deeds.joined(separator: ", "))")
        }
    }

    private mutating func tellOfSending() {
        guard !settings.receiveOnly else { return say("Sends no messages of clients.") }
        if let rate = settings.rate {
            say("Sends at most \(rate.messages) messages in any \(rate.per.text), heartbeats included.")
        }
        switch settings.outbox.whenOffline {
        case .queue:
            let age = settings.outbox.maxAge.map { ", for at most \($0.text)" } ?? ""
            let count = settings.outbox.maxMessages
            say("What clients send waits until it is ready\(age), \(count) messages at most.")
        case .reject: say("What clients send while it is not ready is refused.")
        }
        guard let pointer = settings.request.correlate else { return }
        let id = settings.request.id == .uuid ? "a random UUID" : "its number on the socket"
        say("A request finds its reply by \(pointer.text); one without a value there gets \(id).")
    }

    private static func words(_ codes: [ClosedRange<UInt16>]) -> String {
        codes.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            .joined(separator: ", ")
    }

    private mutating func tellOfReconnecting() {
        let reconnect = settings.reconnect
        guard reconnect.enabled else { return say("When it is lost, it stays closed.") }
        let (factor, part) = (Form.shortest(reconnect.factor), Form.shortest(reconnect.jitter))
        let isGrowing = reconnect.factor != 1
        let growth =
            isGrowing ? ", then \(factor) times that each time, at most \(reconnect.maxDelay.text)" : ""
        let jitter = reconnect.jitter > 0 ? ", each shortened by a random part of it, \(part) at most" : ""
        let end = reconnect.maxRetries.map { "; after \($0) retries it gives up" } ?? ""
        say("When it is lost, it dials again after \(reconnect.initialDelay.text)\(growth)\(jitter)\(end).")
        if !reconnect.stopOnCloseCodes.isEmpty {
            say("Closed with \(Explanation.words(reconnect.stopOnCloseCodes)) it stays closed.")
        }
        if !reconnect.forgetOnCloseCodes.isEmpty, settings.resumeURL != nil {
            say(
                "Closed with \(Explanation.words(reconnect.forgetOnCloseCodes)) it forgets what that URL is made of."
            )
        }
        if !reconnect.stopOnStatus.isEmpty {
            let statuses = reconnect.stopOnStatus.map { "\($0)" }.joined(separator: ", ")
            say("A handshake answered with \(statuses) is the last one.")
        }
    }
}

extension BridgeConfiguration {
    /// What will be sent when, connection by connection.
    var explanation: String {
        let parts = connections.sorted { $0.key < $1.key }.map { name, connection in
            let preset = presets[name].map { " (preset \(Problem.quotable($0, limit: 4096)))" } ?? ""
            let title = "connection \(name)\(preset)"
            return Explanation(title, connection.source, connection.upstream, connection.settings).text
        }
        return parts.isEmpty ? "There are no connections yet.\n" : parts.joined(separator: "\n")
    }
}
