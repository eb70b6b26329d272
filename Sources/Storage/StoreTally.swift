internal import BridgeCore

/// What a session keeps in mind of a connection, so that bounds cost no look at the file.
struct StoreTally: Equatable {
    var history = StoredHistory()
    var limits: HistoryLimits
    var lastMessage: UInt64 = 0
    var outcomes = 0
    var keys = 0
    /// The place of the newest key.
    var lastKey: Int64 = 0

    /// The bounds of a connection are not known until it is named: then nothing of it is trimmed.
    static let unbounded = HistoryLimits(maxMessages: .max, maxBytes: .max)

    init(limits: HistoryLimits = unbounded) {
        self.limits = limits
    }

    /// It holds more than it may, its age aside.
    var isOverfull: Bool { history.records > limits.maxMessages || history.bytes > limits.maxBytes }
}
