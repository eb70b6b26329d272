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
    /// Its number among all records that its connection ever had, stored or not, from 0.
    package var ordinal: UInt64
    package var time: WallTime
    package var kind: Kind
    package var topic: String?
    package var payload: [UInt8]

    package init(
        sequence: UInt64,
        connection: StoredConnectionID,
        ordinal: UInt64,
        time: WallTime,
        kind: Kind,
        topic: String? = nil,
        payload: [UInt8]
    ) {
        self.sequence = sequence
        self.connection = connection
        self.ordinal = ordinal
        self.time = time
        self.kind = kind
        self.topic = topic
        self.payload = payload
    }
}

/// Sequences that no stored record has, because a process ended without closing the store.
package struct StoredGap: Equatable, Sendable {
    /// What is known of the records that had them; the numbers stand in the file and never change their meaning.
    package enum Cause: Int64, Sendable {
        /// Whatever was stored is there; others were shown at most while nothing could be stored. So whoever has read up
        /// to the gap has lost nothing that was stored, and who has an id out of it has lost an unknown number.
        case end = 0
        /// The newest records that were stored may have gone.
        case powerCut = 1
        /// Whatever was stored is there, and others were shown, or may have been, when the process ended while nothing
        /// could be stored.
        case unstored = 2
    }

    package var sequences: ClosedRange<UInt64>
    package var cause: Cause

    /// Whether who has read up to it has to be told of a loss.
    package var mayHaveLost: Bool { cause != .end }

    package init(_ sequences: ClosedRange<UInt64>, _ cause: Cause) {
        self.sequences = sequences
        self.cause = cause
    }

    /// What stands for two of them where there are too many to tell apart, and for what lies between.
    package static func + (first: StoredGap, second: StoredGap) -> StoredGap {
        let lower = min(first.sequences.lowerBound, second.sequences.lowerBound)
        let upper = max(first.sequences.upperBound, second.sequences.upperBound)
        let causes = [first.cause, second.cause]
        return StoredGap(lower...upper, [.powerCut, .unstored].first(where: causes.contains) ?? .end)
    }
}
