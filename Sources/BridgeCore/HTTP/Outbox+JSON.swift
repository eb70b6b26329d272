internal import WebSocketProtocol

extension MessageJournal.Entry {
    /// Writes the members of `GET .../outbox/{id}`.
    package func writeMembers(of id: MessageID, to json: inout JSONWriter) {
        json.member("id", plain: id.appendText)
        json.member("state", state.name)
        json.member("queuedAt", queuedAt.text)
        json.member("sentAt", state.sentAt?.text)
    }
}

extension Outbox.Content {
    /// Writes the members of an element of `GET .../outbox`.
    package func writeMembers(queuedAt: WallTime?, to json: inout JSONWriter) {
        json.member("id", plain: id.appendText)
        json.member("type", kind == .text ? "text" : "binary")
        json.member("bytes", bytes)
        json.member("queuedAt", queuedAt?.text)
    }
}
