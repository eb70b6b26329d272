internal import BridgeCore

/// Bytes that wait for one subscriber alone.
///
/// An object of its own, since most subscribers have none most of the time.
final class SubscriberPage {
    /// The first one is being sent; there is always one.
    private var pieces: [ArraySlice<UInt8>]
    /// What the pieces are parts of, for as long as they are there.
    private var held: [HeldBytes]
    /// How many records of the log came into it.
    private(set) var records: Int
    /// When the client last took some of it, or it was made.
    private(set) var lastMove: Instant

    init(_ bytes: HeldBytes, from start: Int, records: Int, now: Instant) {
        pieces = [bytes.bytes[start...]]
        held = [bytes]
        self.records = records
        lastMove = now
    }

    func append(_ bytes: HeldBytes, from start: Int, records: Int) {
        pieces.append(bytes.bytes[start...])
        held.append(bytes)
        self.records += records
    }

    /// What the bytes take of the process' memory, though others may hold them as well.
    var memoryBytes: Int { held.reduce(0) { $0 + $1.cost } }

    /// Whether the other one holds some of the same bytes.
    func shares(with other: SubscriberPage) -> Bool {
        held.contains { mine in other.held.contains { $0 === mine } }
    }

    var next: ArraySlice<UInt8> { pieces[0] }

    /// So many of the next bytes, from one piece, are on their way; returns whether these were not the last ones.
    func advance(_ count: Int, now: Instant) -> Bool {
        if count > 0 { lastMove = now }
        pieces[0] = pieces[0].dropFirst(count)
        guard pieces[0].isEmpty else { return true }
        pieces.removeFirst()
        held.removeFirst()
        return !pieces.isEmpty
    }
}
