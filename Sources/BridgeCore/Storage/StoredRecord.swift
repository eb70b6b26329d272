/// A record as the store keeps it.
package struct StoredRecord: Equatable, Sendable {
    /// What the payload is; the numbers stand in the file and never change their meaning.
    package enum Kind: Int64, CaseIterable, Sendable {
        case receivedText = 0
        case receivedBinary = 1
        /// A lifecycle event, as JSON.
        case status = 2
        case sentText = 3
        case sentBinary = 4
    }

    package var sequence: UInt64
    package var connection: StoredConnectionID
    package var time: WallTime
    package var kind: Kind
    package var topic: String?
    package var payload: [UInt8]

    package init(
        sequence: UInt64,
        connection: StoredConnectionID,
        time: WallTime,
        kind: Kind,
        topic: String? = nil,
        payload: [UInt8]
    ) {
        self.sequence = sequence
        self.connection = connection
        self.time = time
        self.kind = kind
        self.topic = topic
        self.payload = payload
    }
}

/// Records that nobody can have any more, though they were never trimmed: a power cut took them, or the disk was full.
package struct StoredGap: Equatable, Sendable {
    /// None of them stands outside of these sequences.
    package var sequences: ClosedRange<UInt64>
    /// Nil: of any.
    package var connection: StoredConnectionID?
    /// How many were lost; nil: that is not known.
    package var missed: UInt64?

    package init(
        _ sequences: ClosedRange<UInt64>,
        of connection: StoredConnectionID? = nil,
        missed: UInt64? = nil
    ) {
        self.sequences = sequences
        self.connection = connection
        self.missed = missed
    }
}
