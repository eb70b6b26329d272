internal import WebSocketProtocol

extension StoredRecord {
    /// A record of the log as the store keeps it.
    package init(_ record: Record, of connection: StoredConnectionID, ordinal: UInt64) {
        let (kind, payload) =
            switch record.payload {
            case .message(let message): (Kind(message.kind, record.direction), message.bytes)
            case .status(let event): (Kind.status, event.storedBytes)
            }
        self.init(
            sequence: record.sequence,
            connection: connection,
            ordinal: ordinal,
            time: record.time,
            kind: kind,
            topic: record.topic,
            payload: payload
        )
    }
}

extension StoredRecord.Kind {
    fileprivate init(_ kind: Message.Kind, _ direction: Record.Direction) {
        self =
            switch (kind, direction) {
            case (.text, .received): .receivedText
            case (.binary, .received): .receivedBinary
            case (.text, .sent): .sentText
            case (.binary, .sent): .sentBinary
            }
    }
}

extension Record {
    /// A stored record as it stood in the log; nil if it is a lifecycle event that this version does not know.
    package init?(_ stored: StoredRecord, of connection: ConnectionIndex) {
        let (direction, payload): (Direction, Payload)
        switch stored.kind {
        case .receivedText: (direction, payload) = (.received, .message(Message(.text, stored.payload)))
        case .receivedBinary: (direction, payload) = (.received, .message(Message(.binary, stored.payload)))
        case .sentText: (direction, payload) = (.sent, .message(Message(.text, stored.payload)))
        case .sentBinary: (direction, payload) = (.sent, .message(Message(.binary, stored.payload)))
        case .status:
            guard let event = Lifecycle(storedBytes: stored.payload) else { return nil }
            (direction, payload) = (.received, .status(event))
        }
        self.init(
            sequence: stored.sequence,
            connection: connection,
            direction: direction,
            time: stored.time,
            topic: stored.topic,
            payload: payload
        )
    }
}
