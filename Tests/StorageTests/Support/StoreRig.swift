import BridgeCore
import Synchronization
import Testing
import WebSocketProtocol

@testable import Storage

/// A store with what a test needs to wait for its news.
final class StoreRig {
    let folder: StoreFolder
    let store: Store
    let recovery: StoreRecovery
    private let doorbell: Doorbell
    private(set) var news = StoreNews()
    private(set) var refused: Set<StoreTicket> = []
    /// The newest of each connection that news told of.
    private(set) var histories: [StoredConnectionID: StoredHistory] = [:]
    /// All that news told of.
    private(set) var trims: [StoredTrim] = []
    private(set) var mended: [StoreMending] = []

    /// Opens a store in the folder; `onWake` runs on the writer's thread.
    init(
        _ folder: StoreFolder? = nil,
        boot: String? = "boot",
        _ configure: (inout StoreOptions) -> Void = { _ in },
        onWake: @escaping @Sendable () -> Void = {}
    ) throws {
        self.folder = try folder ?? StoreFolder()
        var options = StoreOptions(boot: boot)
        options.retryInterval = .milliseconds(1)
        configure(&options)
        let doorbell = Doorbell()
        self.doorbell = doorbell
        store = try Store(in: self.folder.path, options) {
            onWake()
            doorbell.ring()
        }
        recovery = try #require(store.takeRecovery())
    }

    deinit { store.close() }

    func wait(until isThere: (StoreNews) -> Bool) {
        while true {
            news = store.takeNews()
            refused.formUnion(news.refused)
            histories.merge(news.histories) { $1 }
            trims += news.trims
            mended += news.mended
            if isThere(news) { return }
            doorbell.wait(for: nil)
        }
    }

    /// Waits until it is decided, and returns whether the promise was kept.
    func isKept(_ ticket: StoreTicket, _ promise: StorePromise = .synced) -> Bool {
        wait { news in
            refused.contains(ticket) || news.refused.contains(ticket)
                || (promise == .synced ? news.synced : news.committed) >= ticket
        }
        return !refused.contains(ticket)
    }

    /// Stores it, and returns whether that is so.
    func put(_ offers: StoreOffer..., promise: StorePromise = .synced) throws -> Bool {
        isKept(try store.offer(offers, promise), promise)
    }

    func note(_ facts: StoreFact...) {
        store.note(facts)
    }

    /// Everything that was given to it is synced.
    func flush() throws {
        _ = isKept(try store.offer([], .synced))
    }

    /// All records of these connections.
    func records(of connections: StoredConnectionID...) throws -> [StoredRecord] {
        try store.makeReader().page(
            StorePageRequest(after: 0, through: .max, of: connections, maxRecords: .max, maxBytes: .max)
        )
        .records
    }
}

// MARK: - Values

let orders = StoredConnectionID(number: 1)
let trades = StoredConnectionID(number: 2)

func time(_ milliseconds: Int64) -> WallTime { WallTime(millisecondsSince1970: milliseconds) }

func named(_ id: StoredConnectionID, _ name: String = "orders", limits: HistoryLimits = HistoryLimits())
    -> StoreFact
{
    .connection(id, name: name, limits: limits)
}

/// A record whose ordinal is its sequence less one, unless it is given.
func record(
    _ sequence: UInt64,
    of connection: StoredConnectionID = orders,
    ordinal: UInt64? = nil,
    at milliseconds: Int64 = 0,
    _ text: String = "hello"
) -> StoredRecord {
    StoredRecord(
        sequence: sequence,
        connection: connection,
        ordinal: ordinal ?? sequence - 1,
        time: time(milliseconds),
        kind: .receivedText,
        payload: Array(text.utf8)
    )
}

func message(_ number: UInt64, _ text: String = "hello") -> StoredMessage {
    StoredMessage(number: number, queuedAt: time(Int64(number)), message: Message(.text, Array(text.utf8)))
}

func messages(
    _ numbers: ClosedRange<UInt64>,
    of connection: StoredConnectionID = orders,
    key: String? = nil
) -> StoreOffer {
    let key = key.map { key in
        StoredKey(
            key: key,
            fingerprint: [1, 2, 3],
            firstUse: time(5),
            firstMessage: numbers.lowerBound,
            count: numbers.count
        )
    }
    return .messages(numbers.map { message($0, "message \($0)") }, of: connection, key: key)
}
