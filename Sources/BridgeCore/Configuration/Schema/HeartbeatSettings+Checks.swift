internal import WebSocketProtocol

extension HeartbeatSettings {
    /// Complains about heartbeats that contradict themselves, each setting being right alone; the reader is inside
    /// of `heartbeat`.
    ///
    /// `captured` are the variables that something on the connection captures; nil: that is not known.
    func check(isReceiveOnly: Bool, captured: Set<String>?, _ reader: inout ConfigurationReader) {
        let broken = ["send", "expect", "reply", "alive"].filter { reader.isBroken($0) }
        guard broken.isEmpty else { return }
        checkAnswers(&reader)
        if isReceiveOnly { checkSilence(&reader) }
        if case .message(let message) = send {
            reader.inside("send") { message.check(hasMessage: false, captured: captured, &$0) }
        }
        reader.inside("reply") { reply?.check(hasMessage: true, captured: captured, &$0) }
    }

    /// With `receiveOnly` nothing but control frames is ever sent.
    private func checkSilence(_ reader: inout ConfigurationReader) {
        if case .message = send {
            reader.inside("send") { $0.complainHere("is a message, which receiveOnly rules out") }
        }
        if reply != nil {
            reader.inside("reply") { $0.complainHere("is a message, which receiveOnly rules out") }
        }
    }

    private func checkAnswers(_ reader: inout ConfigurationReader) {
        if case .message(let message) = send, message.kind == .binary, expect == nil {
            reader.inside("send") {
                $0.complainHere("needs expect: what the answer to a binary heartbeat is")
            }
        }
        if reply != nil, answer == nil {
            reader.inside("reply") { $0.complainHere("needs expect: what is to be replied to") }
        }
        if alive == .answer, answer == nil, !isAnsweredByPong {
            reader.inside("alive") { $0.complainHere("needs expect: what the answer is") }
        }
    }
}

extension MessageTemplate {
    /// Complains about values that are never there; the reader is where the message stands.
    ///
    /// `hasMessage` tells whether there is a message at hand.
    func check(hasMessage: Bool, captured: Set<String>?, _ reader: inout ConfigurationReader) {
        reader.inside(kind == .text ? "text" : "base64") { reader in
            reader.requireCaptured(template.variables, captured)
            guard template.needsMessage, !hasMessage else { return }
            reader.complainHere(
                "there is no message at hand whose {{POINTER}} could be filled in; "
                    + "{{last:POINTER}} is the newest value on the connection"
            )
        }
    }
}

extension ConfigurationReader {
    /// Complains about variables that nothing captures, if it is known what does.
    mutating func requireCaptured(_ names: [String], _ captured: Set<String>?) {
        guard let captured else { return }
        for name in Set(names).subtracting(captured).sorted() {
            complainHere("nothing captures the variable `\(Problem.quotable(name))`")
        }
    }

    /// Complains about the value that stands here in the file.
    mutating func complainHere(_ text: String) {
        complain(position ?? ConfigurationNode.Position(line: 1, column: 1), text)
    }
}
