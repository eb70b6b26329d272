package import WebSocketProtocol

/// Names a connection in the store, over restarts.
///
/// Whoever makes one sees to it that no number is given twice while anything of its connection is stored.
package struct StoredConnectionID: Hashable, Comparable, Sendable {
    package let number: Int64

    package init(number: Int64) {
        self.number = number
    }

    package static func < (left: StoredConnectionID, right: StoredConnectionID) -> Bool {
        left.number < right.number
    }
}

/// All that the store knows of a connection, but for the records themselves.
package struct StoredConnection: Equatable, Sendable {
    package var id: StoredConnectionID
    package var name: String
    package var history = StoredHistory()
    /// The greatest number that a message to be sent ever had; 0: there was none.
    package var lastMessage: UInt64 = 0
    /// Those that wait, in order.
    package var messages: [StoredMessage] = []
    /// What became of the newest others, in the order of their numbers.
    package var outcomes: [StoredOutcome] = []
    /// Idempotency keys, oldest first use first.
    package var keys: [StoredKey] = []

    package init(id: StoredConnectionID, name: String) {
        self.id = id
        self.name = name
    }
}

/// How much of a connection's past is kept in the store, and what is not any more.
package struct StoredHistory: Equatable, Sendable {
    /// Records that are kept.
    package var records = 0
    /// Their payload bytes.
    package var bytes = 0
    /// The sequence of the oldest of them; 0: there is none.
    package var oldest: UInt64 = 0
    /// The ordinal of the next record.
    package var recorded: UInt64 = 0
    /// The sequence of the newest record, kept or not; 0: there was none.
    package var newest: UInt64 = 0
    /// The ordinal behind the newest record that could not be stored.
    package var skipped: UInt64 = 0
    /// The sequence of that one, or of one between it and the next; 0: there is none.
    package var skippedThrough: UInt64 = 0
    /// The ordinal behind the newest record that was trimmed.
    package var trimmed: UInt64 = 0
    /// The sequence of that one; 0: there is none.
    package var trimmedThrough: UInt64 = 0
    /// When that one was recorded.
    package var trimmedAt = WallTime(millisecondsSince1970: 0)
    /// Up to this sequence others of the same name may have had records of which nothing else is known; 0: there were
    /// none.
    package var unknownThrough: UInt64 = 0

    package init() {}
}

/// Records that were trimmed together: those of a connection with these sequences, and no other record has one of them.
package struct StoredTrim: Equatable, Sendable {
    package var connection: StoredConnectionID
    package var sequences: ClosedRange<UInt64>
    package var ordinals: Range<UInt64>

    package init(_ sequence: UInt64, of connection: StoredConnectionID, ordinal: UInt64) {
        self.connection = connection
        sequences = sequence...sequence
        ordinals = ordinal..<ordinal + 1
    }

    /// Whether the record follows without a hole; if so, it is taken in.
    package mutating func extend(_ sequence: UInt64, of other: StoredConnectionID, ordinal: UInt64) -> Bool {
        guard other == connection, sequence == sequences.upperBound + 1, ordinal == ordinals.upperBound else {
            return false
        }
        sequences = sequences.lowerBound...sequence
        ordinals = ordinals.lowerBound..<ordinal + 1
        return true
    }
}

/// A message that waits in an outbox.
package struct StoredMessage: Equatable, Sendable {
    package var number: UInt64
    package var queuedAt: WallTime
    package var message: Message

    package init(number: UInt64, queuedAt: WallTime, message: Message) {
        self.number = number
        self.queuedAt = queuedAt
        self.message = message
    }
}

/// What became of a message.
package struct StoredOutcome: Equatable, Sendable {
    package var number: UInt64
    package var queuedAt: WallTime
    /// Never `queued`.
    package var state: MessageState

    package init(number: UInt64, queuedAt: WallTime, state: MessageState) {
        self.number = number
        self.queuedAt = queuedAt
        self.state = state
    }
}

/// An idempotency key, and the messages that came with it.
package struct StoredKey: Equatable, Sendable {
    package var key: String
    /// The same for equal bodies alone.
    package var fingerprint: [UInt8]
    package var firstUse: WallTime
    /// The number of its first message, which the others follow.
    package var firstMessage: UInt64
    package var count: Int
    /// The states that the first answer told of; nil: it was not given yet.
    package var answer: MessageStates?

    package init(
        key: String,
        fingerprint: [UInt8],
        firstUse: WallTime,
        firstMessage: UInt64,
        count: Int,
        answer: MessageStates? = nil
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.firstUse = firstUse
        self.firstMessage = firstMessage
        self.count = count
        self.answer = answer
    }
}
