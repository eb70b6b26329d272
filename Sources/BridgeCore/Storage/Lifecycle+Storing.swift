/// Lifecycle events as the store keeps them: the JSON object that readers see, without connection and time.
extension Lifecycle {
    package var storedBytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("type", name)
            writeMembers(to: &json)
        }
        return json.bytes
    }

    /// Nil unless it is what `storedBytes` is of some event.
    package init?(storedBytes: [UInt8]) {
        guard let members = StoredMembers(storedBytes), let type = members.text("type"),
            let event = Lifecycle(type, members)
        else { return nil }
        self = event
    }

    private init?(_ type: String, _ members: StoredMembers) {
        switch type {
        case "connecting": self = .connecting
        case "ready": self = .ready
        case "heartbeat-lost": self = .heartbeatLost
        case "network-lost": self = .networkLost
        case "network-restored": self = .networkRestored
        case "paused": self = .paused
        case "resumed": self = .resumed
        case "rotated": self = .rotated
        case "open":
            guard let reconnected = members.bool("reconnected") else { return nil }
            self = .open(subprotocol: members.text("subprotocol"), reconnected: reconnected)
        case "closed":
            guard let code = members.integer("code").flatMap({ UInt16(exactly: $0) }),
                let reason = members.text("reason"), let clean = members.bool("clean"),
                let closer = members.text("by").flatMap(Closer.init)
            else { return nil }
            self = .closed(code: code, reason: reason, clean: clean, by: closer)
        case "failed":
            guard let phase = members.text("phase").flatMap(DialPhase.init), let error = members.text("error")
            else { return nil }
            self = .failed(
                DialFailure(phase: phase, status: members.integer("status").map(Int.init), error: error)
            )
        case "heartbeat-missed":
            guard let misses = members.integer("misses") else { return nil }
            self = .heartbeatMissed(misses: Int(misses))
        case "reconnecting":
            guard let attempt = members.integer("attempt"), let delay = members.integer("delayMs")
            else { return nil }
            self = .reconnecting(attempt: Int(attempt), delay: .milliseconds(delay))
        case "gave-up":
            guard let attempts = members.integer("attempts") else { return nil }
            self = .gaveUp(attempts: Int(attempts))
        case "message-expired":
            guard let id = members.text("id") else { return nil }
            self = .messageExpired(id: id)
        case "message-dropped":
            guard let id = members.text("id") else { return nil }
            self = .messageDropped(id: id)
        default: return nil
        }
    }
}

/// The members of a JSON object, looked up by their names.
private struct StoredMembers {
    private static let names = [
        "type", "subprotocol", "reconnected", "code", "reason", "clean", "by", "phase", "status", "error",
        "misses",
        "attempt", "delayMs", "attempts", "id",
    ]
    private static let search = JSONSearch(names.compactMap { JSONPointer("/" + $0) })

    private let bytes: [UInt8]
    private let places: [Range<Int>?]

    init?(_ bytes: [UInt8]) {
        guard let places = StoredMembers.search.values(in: bytes.span) else { return nil }
        self.bytes = bytes
        self.places = places
    }

    func text(_ name: String) -> String? {
        guard let place = place(name), place.count >= 2, bytes[place.lowerBound] == UInt8(ascii: "\"") else {
            return nil
        }
        let content = bytes.span.extracting(place.lowerBound + 1..<place.upperBound - 1)
        return String(decoding: JSONString.decoded(content), as: UTF8.self)
    }

    func integer(_ name: String) -> Int64? {
        place(name).flatMap { Int64(String(decoding: bytes[$0], as: UTF8.self)) }
    }

    func bool(_ name: String) -> Bool? {
        place(name).flatMap { Bool(String(decoding: bytes[$0], as: UTF8.self)) }
    }

    private func place(_ name: String) -> Range<Int>? {
        StoredMembers.names.firstIndex(of: name).flatMap { places[$0] }
    }
}
