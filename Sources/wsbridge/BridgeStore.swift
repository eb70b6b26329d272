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
    /// What could not be read, as it is damaged; nil: nothing was found.
    private(set) var damage: StorageError?
    /// Since when nothing can be written.
    private(set) var failingSince: Instant?
    /// How often that began.
    private(set) var failures = 0
    /// So much waits to be written that nothing more should come for a while.
    private(set) var isCongested = false {
        didSet { if isCongested != oldValue { onCongestion() } }
    }
    var onCongestion: () -> Void = {}
    /// It refused what was offered, and there was no news since.
    private var isOverloaded = false
    /// Further parts of the bridge that have something in the store get all its news, in this order.
    var onNews: [(StoreNews) -> Void] = []

    let store: Store
    private let pager: StorePager
    private let bell: LoopBell
    let loop: Loop
    private let pagerBell: LoopBell
    private let log: Log
    let disk: DiskWatch
    /// What this turn has brought so far, and ends of earlier ones: facts, then offers, then facts again.
    private var facts = PendingFacts()
    private var batch: [StoreOffer] = []
    private var completions: [(Bool) -> Void] = []
    private var laterFacts = PendingFacts()
    /// Hands over the ends of messages that nothing else came for.
    private var endsTimer: LoopTimer?
    /// Offers that are to be synced, oldest first.
    private var offers = Queue<Offer>()
    /// Offers that are to be committed, oldest first.
    private var commits = Queue<Offer>()
    /// Who asked, by the number of the question.
    private var questions: [UInt64: (StoreAnswer?) -> Void] = [:]
    private var onClosed: (() -> Void)?
    /// Letting go of it does not have to wait for the disk any more.
    private(set) var isClosed = false

    private struct Offer {
        var ticket: StoreTicket
        var completion: (Bool) -> Void
    }

    /// Opens the store in a directory, which takes as long as the disk does.
    init(in directory: String, loop: Loop, log: Log) throws(StorageError) {
        let bell = LoopBell(loop: loop)
        store = try Store(in: directory, StoreOptions(boot: BootID.current), wake: bell.ring)
        let pagerBell = LoopBell(loop: loop)
        pager = try StorePager(store, wake: pagerBell.ring)
        self.bell = bell
        self.loop = loop
        self.pagerBell = pagerBell
        self.log = log
        path = store.path
        disk = DiskWatch(of: path, loop: loop, log: log) { [store] in store.busySince }
        guard var recovery = store.takeRecovery() else {
            preconditionFailure("a store that was just opened has something to go on with")
        }
        connections = StoredConnections(recovery)
        recovery.connections = []
        origin = recovery
        for doubt in recovery.doubts {
            log.warning(
                "the store is not as the bridge before has left it",
                ["path": .text(path), "finding": .text(doubt.text)]
            )
        }
        bell.onRing = { [unowned self] in takeNews() }
        pagerBell.onRing = { [unowned self] in takeAnswers() }
    }

    /// Nothing is known that would make it be in vain.
    private var canBeOffered: Bool { failure == nil && !disk.isSilent && !isOverloaded }

    /// Has the messages of a request stored, with its key and all else that this turn brings: all of it or nothing.
    ///
    /// `completion` is told whether it is safe on disk, in the order of the offers and never at once. Returns false if
    /// that is known to be in vain.
    func offer(
        _ messages: [StoredMessage],
        of connection: StoredConnectionID,
        key: StoredKey?,
        completion: @escaping (Bool) -> Void
    ) -> Bool {
        guard canBeOffered else { return false }
        if !laterFacts.areEnds { flush() }
        completions.append(completion)
        batch.append(messages, of: connection, key: key)
        return true
    }

    /// Has all stored that was noted so far; `completion` is told as that of an offer.
    func settle(completion: @escaping (Bool) -> Void) -> Bool {
        guard canBeOffered else { return false }
        if !laterFacts.isEmpty { flush() }
        completions.append(completion)
        return true
    }

    /// Has a fact stored by and by, after all that was offered before.
    func note(_ fact: StoreFact) {
        if completions.isEmpty { facts.append(fact) } else { laterFacts.append(fact) }
    }

    /// A message came to its end, which is stored with what comes next, or within milliseconds.
    func ended(_ number: UInt64, of connection: StoredConnectionID, as state: MessageState) {
        let now = loop.now
        if completions.isEmpty {
            facts.append(endOf: number, of: connection, as: state, at: now)
        } else {
            laterFacts.append(endOf: number, of: connection, as: state, at: now)
        }
    }

    /// Nothing more comes in this round of the turn.
    func endRound() {
        if !completions.isEmpty { offerBatch() }
        if facts.mayWait(at: loop.now) { watchEnds() } else { noteFacts() }
        // Of relief there is news.
        if !isCongested { isCongested = store.isCongested }
    }

    /// Hands over what has come so far.
    func flush() {
        if !completions.isEmpty { offerBatch() }
        if !facts.isEmpty { noteFacts() }
    }

    private func noteFacts() {
        store.note(facts.take())
        disk.begin()
    }

    /// Has ends of messages go by themselves if nothing comes that takes them along.
    private func watchEnds() {
        guard !facts.isEmpty, endsTimer == nil else { return }
        endsTimer = loop.startTimer(after: facts.due - loop.now) { [unowned self] in
            endsTimer = nil
            // Mostly those are newer ones than it was set for.
            endRound()
        }
    }

    private func offerBatch() {
        let completions = completions
        let batch = batch
        self.completions = []
        self.batch = []
        let complete = { (isStored: Bool) in
            for completion in completions { completion(isStored) }
        }
        do throws(StoreRefusal) {
            let ticket = try store.offer(batch, .synced, behind: facts.take())
            offers.append(Offer(ticket: ticket, completion: complete))
            disk.begin()
        } catch {
            isOverloaded = error == .overloaded
            complete(false)
        }
        swap(&facts, &laterFacts)
    }

    // MARK: News

    private func takeNews() {
        let news = store.takeNews()
        disk.advance()
        tell(of: news.failure)
        for mending in news.mended { warn(of: mending) }
        isOverloaded = false
        isCongested = news.isCongested
        let refused = Set(news.refused)
        while let offer = commits.first, offer.ticket <= news.committed || refused.contains(offer.ticket) {
            commits.popFirst()
            offer.completion(!refused.contains(offer.ticket))
        }
        while let offer = offers.first, offer.ticket <= news.synced || refused.contains(offer.ticket) {
            offers.popFirst()
            offer.completion(!refused.contains(offer.ticket))
        }
        for listener in onNews { listener(news) }
        // What is missing was noted by now.
        if news.isToBeTold { store.tellAll() }
        if news.isClosed {
            isClosed = true
            // Their threads are at their end, and leave nothing behind.
            pager.close()
            store.close()
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
        if failure != nil, self.failure == nil { failures += 1 }
        // Another reason is no progress.
        failingSince = failure == nil ? nil : failingSince ?? loop.now
        self.failure = failure
    }

    private func warn(of mending: StoreMending) {
        let what =
            switch mending {
            case .log: "wsbridge.db-wal was deleted or replaced"
            case .lock: "wsbridge.lock was deleted, replaced or emptied"
            }
        log.warning(
            "somebody has changed the files of the store; they were made again, and nothing is lost",
            ["path": .text(path), "what": .text(what)]
        )
    }

    // MARK: The end

    /// Writes what waits and closes the file; `completion` is called when that is done.
    ///
    /// Nothing may be given to it afterwards.
    func close(completion: @escaping () -> Void) {
        flush()
        endsTimer = nil
        disk.end()
        onClosed = completion
        pager.beginClosing()
        store.beginClosing()
    }
}

extension BridgeStore: RecordStore {
    /// Has the hub's records stored from now on, behind those that are there.
    func keepHistory(of hub: EventHub) {
        hub.keep(in: self, from: origin)
        onNews.append { news in
            hub.stored(news.histories, news.trims)
            if news.failure == nil { hub.noteUnstored() }
        }
    }

    func offer(records: some Sequence<StoredRecord>, completion: @escaping (Bool) -> Void) -> RecordOffer {
        flush()
        do throws(StoreRefusal) {
            let ticket = try store.offer(records.map { .record($0) }, .committed)
            commits.append(Offer(ticket: ticket, completion: completion))
            return .taken
        } catch {
            return error == .overloaded ? .later : .refused
        }
    }

    func ask(_ question: StoreQuestion, completion: @escaping (StoreAnswer?) -> Void) {
        questions[pager.ask(question)] = completion
    }

    private func takeAnswers() {
        if damage == nil, let found = pager.damage {
            damage = found
            log.error(
                "a part of the store is damaged: readers get a gap in its place",
                ["error": .text(found.text)]
            )
        }
        for (number, answer) in pager.takeAnswers() {
            guard let completion = questions.removeValue(forKey: number) else { continue }
            switch answer {
            case .success(let answer): completion(answer)
            case .failure(let failure):
                log.warning("the store cannot be read", ["error": .text(failure.text)])
                completion(nil)
            }
        }
    }
}
