internal import BridgeCore
internal import BridgeIO
internal import Storage

/// The store as the loop uses it.
///
/// What happens in a turn goes to it together; what it tells is taken once for each time that it wakes the loop, and
/// handed to those who wait for it.
final class BridgeStore {
    /// What the bridge goes on with, without its connections, which `connections` has.
    let origin: StoreRecovery
    var connections: StoredConnections
    /// Where the database is.
    let path: String
    /// Why nothing can be written at the moment; nil: it can.
    private(set) var failure: StorageError?
    /// Since when that is so.
    private var failingSince: Instant?
    /// So much waits to be written that nothing more should come for a while.
    private(set) var isCongested = false {
        didSet { if isCongested != oldValue { onCongestion() } }
    }
    var onCongestion: () -> Void = {}
    /// Further parts of the bridge that have something in the store get all its news, in this order.
    var onNews: [(StoreNews) -> Void] = []

    private let store: Store
    private let bell: LoopBell
    private let loop: Loop
    private let log: Log
    private var facts: [StoreFact] = []
    /// Offers that are to be synced, oldest first.
    private var offers = Queue<Offer>()
    private var onClosed: (() -> Void)?

    private struct Offer {
        var ticket: StoreTicket
        var completion: (Bool) -> Void
    }

    /// Opens the store in a directory, which takes as long as the disk does.
    init(in directory: String, loop: Loop, log: Log) throws(StorageError) {
        let bell = LoopBell(loop: loop)
        store = try Store(in: directory, StoreOptions(boot: BootID.current), wake: bell.ring)
        self.bell = bell
        self.loop = loop
        self.log = log
        path = store.path
        guard var recovery = store.takeRecovery() else {
            preconditionFailure("a store that was just opened has something to go on with")
        }
        connections = StoredConnections(recovery)
        recovery.connections = []
        origin = recovery
        bell.onRing = { [unowned self] in takeNews() }
    }

    /// Has something stored, all of it or nothing; `completion` is told whether it is safe on disk, in the order of the
    /// offers and never at once.
    ///
    /// Returns false if that is known to be in vain.
    func offer(_ offers: [StoreOffer], completion: @escaping (Bool) -> Void) -> Bool {
        flush()
        do throws(StoreRefusal) {
            let ticket = try store.offer(offers, .synced)
            self.offers.append(Offer(ticket: ticket, completion: completion))
            return true
        } catch {
            return false
        }
    }

    /// Has a fact stored by and by, after all that was offered before.
    func note(_ fact: StoreFact) { facts.append(fact) }

    /// Hands over what was noted.
    func flush() {
        guard !facts.isEmpty else { return }
        store.note(facts)
        facts.removeAll(keepingCapacity: facts.count <= 1024)
    }

    /// Nothing more comes in this turn of the loop.
    func endTurn() {
        flush()
        // Of relief there is news.
        if !isCongested { isCongested = store.isCongested }
    }

    // MARK: News

    private func takeNews() {
        let news = store.takeNews()
        tell(of: news.failure)
        isCongested = news.isCongested
        let refused = Set(news.refused)
        while let offer = offers.first, offer.ticket <= news.synced || refused.contains(offer.ticket) {
            offers.popFirst()
            offer.completion(!refused.contains(offer.ticket))
        }
        for listener in onNews { listener(news) }
        if news.isClosed {
            onClosed?()
            onClosed = nil
        }
    }

    private func tell(of failure: StorageError?) {
        guard failure != self.failure else { return }
        if let failure {
            log.error(
                "the store cannot be written: no messages are accepted until it can",
                ["error": .text(failure.text)]
            )
        } else {
            log.info("the store can be written again")
        }
        // Another reason is no progress.
        failingSince = failure == nil ? nil : failingSince ?? loop.now
        self.failure = failure
    }

    /// Nothing could be written for a while: the disk does not answer, or has no room.
    var isStalled: Bool {
        let beginning = [failingSince, store.busySince].compactMap(\.self).min()
        return beginning.map { loop.now - $0 >= BridgeStore.patience } ?? false
    }

    private static let patience = Duration.seconds(5)

    /// Writes the value of `storage` in the status.
    func writeStatus(to json: inout JSONWriter) {
        json.object { json in
            json.member("path", path)
            json.member("error", failure?.text)
        }
    }

    // MARK: The end

    /// Writes what waits and closes the file; `completion` is called when that is done.
    ///
    /// Nothing may be given to it afterwards.
    func close(completion: @escaping () -> Void) {
        flush()
        onClosed = completion
        store.beginClosing()
    }
}
