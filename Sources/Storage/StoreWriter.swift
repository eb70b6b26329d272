internal import BridgeCore

/// The writer's thread: takes what waits, writes it as one transaction, syncs if that is awaited, and tells the loop.
///
/// It never gives up: while the file cannot be written it refuses offers, keeps facts in mind, and tries again by
/// itself.
final class StoreWriter {
    private let file: StoreFile
    private let mailbox: StoreMailbox
    private var session: StoreSession
    private var random = SystemRandomNumberGenerator()
    /// Facts that are not stored yet, oldest first.
    private var backlog: [StoreFact] = []
    private var failure: StorageError?
    private var retryDue: Instant?
    /// When what was committed has to be synced; nil: it is.
    private var syncDue: Instant?
    private var ageDue: Instant?
    /// When it is to be looked whether the files are where they were.
    private var watchDue: Instant
    private var committed = StoreTicket(number: 0)
    private var checkpointAt: Int

    /// About so many bytes are written together at most, which bounds how long the others wait.
    private static let groupLimit = 4 << 20
    /// How often records are looked at for their age.
    private static let ageInterval = Duration.seconds(10)

    init(_ file: StoreFile, _ session: StoreSession, mailbox: StoreMailbox) {
        self.file = file
        self.session = session
        self.mailbox = mailbox
        checkpointAt = file.options.checkpointPages
        watchDue = file.options.clock.monotonic() + file.options.watchInterval
    }

    private var now: Instant { file.options.clock.monotonic() }
    private var wallTime: WallTime { file.options.clock.wall() }

    /// Returns when the mailbox is closed and everything is written that can be.
    func run() {
        while true {
            let letters = mailbox.take(upTo: StoreWriter.groupLimit, at: now)
            if letters.isEmpty {
                if mailbox.isClosing { break }
                rest()
            } else {
                write(letters)
                mailbox.finish(letters, writtenAt: failure == nil ? now : nil)
            }
            checkpoint()
        }
        finish()
        mailbox.publish { $0.isClosed = true }
    }

    private func finish() {
        if failure?.mayPass == true { recover() }
        guard failure == nil else { return }
        // What cannot be done now is found out at the next start.
        try? file.close(session, random: &random)
    }

    // MARK: Writing

    private func write(_ letters: [StoreMailbox.Letter]) {
        guard failure == nil else { return refuse(letters) }
        do throws(StorageError) {
            try commit(letters)
        } catch {
            fail(error)
            return refuse(letters)
        }
        backlog = []
        committed = letters.last?.ticket ?? committed
        if letters.contains(where: \.isEnd) { file.directory.note(hasUnstored: false) }
        let promises = Set(letters.compactMap(\.promise))
        let mustSync = promises.contains(.synced) || session.needsSync
        // Those who wait for the commit alone need not wait for the disk.
        if !mustSync || (promises.contains(.committed) && !session.needsSync) { publishCommitted() }
        if mustSync {
            guard sync() else { return withdraw(letters) }
        } else if syncDue == nil {
            syncDue = now + file.options.syncInterval
        }
    }

    private func commit(_ letters: [StoreMailbox.Letter], isProbe: Bool = false) throws(StorageError) {
        try guardFiles()
        try session.transact(at: wallTime) { session throws(StorageError) in
            if isProbe { try session.probe() }
            for fact in backlog { try session.apply(fact) }
            for letter in letters {
                switch letter.content {
                case .offers(let offers, _): for offer in offers { try session.apply(offer) }
                case .facts(let facts): for fact in facts { try session.apply(fact) }
                case .end: break
                }
            }
        }
    }

    /// Whether it succeeded.
    private func sync() -> Bool {
        do throws(StorageError) {
            try session.sync()
        } catch {
            fail(error)
            return false
        }
        syncDue = nil
        tell { news in
            news.committed = committed
            news.synced = committed
        }
        return true
    }

    private func publishCommitted() {
        tell { $0.committed = committed }
    }

    /// Publishes news, with what has become of the histories.
    private func tell(_ change: (inout StoreNews) -> Void) {
        let (histories, trims) = session.takeHistories()
        mailbox.publish { news in
            change(&news)
            news.histories.merge(histories) { $1 }
            news.trims += trims
        }
    }

    // MARK: The files

    /// Sees to it that what is written will be found again, whatever somebody has done to the files.
    private func guardFiles() throws(StorageError) {
        watchDue = now + file.options.watchInterval
        if session.database.hasMoved { throw StorageError(.moved, path: session.database.path) }
        if try file.directory.keepLock() { mailbox.publish { $0.mended.append(.lock) } }
        switch session.logFinding {
        case .whole: return
        case .gone:
            // What is in it is there for those who have it open: here alone it can still be brought into the database.
            try session.database.checkpoint(truncating: true)
            session = try file.reopen(session)
            mailbox.publish { $0.mended.append(.log) }
        case .cut:
            session.database.leaveLog()
            throw StorageError(.cut, path: session.database.logPath)
        }
    }

    private func watch() {
        do throws(StorageError) {
            try guardFiles()
        } catch {
            fail(error)
        }
    }

    // MARK: Failing

    private func fail(_ error: StorageError) {
        // Before anything is shown that is not stored.
        file.directory.note(hasUnstored: true)
        failure = error
        retryDue = error.mayPass ? now + file.options.retryInterval : nil
        mailbox.publish { $0.failure = error }
    }

    /// Offers are lost, facts are not.
    private func refuse(_ letters: [StoreMailbox.Letter]) {
        var refused: [StoreTicket] = []
        for letter in letters {
            switch letter.content {
            case .offers: refused.append(letter.ticket)
            case .facts(let facts): backlog += facts
            // There is more to tell by now.
            case .end: break
            }
        }
        committed = letters.last?.ticket ?? committed
        tell { news in
            news.refused += refused
            news.committed = committed
        }
    }

    /// What was promised to be synced was committed, but may not be on disk: it counts as refused, and goes again.
    private func withdraw(_ letters: [StoreMailbox.Letter]) {
        var refused: [StoreTicket] = []
        for letter in letters {
            guard case .offers(let offers, .synced) = letter.content else { continue }
            refused.append(letter.ticket)
            backlog += offers.compactMap(\.withdrawal)
        }
        tell { news in
            news.refused += refused
            news.committed = committed
        }
    }

    /// Tries whether the file can be written again, beginning with what is owed to it.
    private func recover() {
        guard let failure else { return }
        do throws(StorageError) {
            switch failure.reason {
            // A log that is in the file is written over from its beginning, which needs no room.
            case .full: _ = try? session.database.checkpoint()
            case .damaged, .foreign, .newer, .inUse, .notWritable, .moved, .cut, .failing, .noLibrary:
                session = try file.reopen(session)
            }
            try commit([], isProbe: true)
            try session.sync()
        } catch {
            fail(error)
            return
        }
        self.failure = nil
        backlog = []
        retryDue = nil
        syncDue = nil
        tell { news in
            news.failure = nil
            news.isToBeTold = true
            news.synced = committed
        }
    }

    // MARK: When there is nothing to write

    /// Does what is due, or waits until something is.
    private func rest() {
        if failure != nil {
            if let retryDue, retryDue > now { return mailbox.wait(for: retryDue - now) }
            guard retryDue != nil else { return mailbox.wait(for: nil) }
            mailbox.isBusy(at: now)
            return recover()
        }
        if let syncDue, syncDue <= now {
            mailbox.isBusy(at: now)
            _ = sync()
        } else if session.hasRefuse || ageDue.map({ $0 <= now }) == true {
            keepHouse()
        } else if watchDue <= now {
            mailbox.isBusy(at: now)
            watch()
        } else {
            if ageDue == nil, session.isAgeing { ageDue = now + StoreWriter.ageInterval }
            let due = [syncDue, ageDue].compactMap(\.self).reduce(watchDue, min)
            mailbox.wait(for: max(.zero, due - now))
        }
    }

    private func keepHouse() {
        mailbox.isBusy(at: now)
        ageDue = nil
        do throws(StorageError) {
            try guardFiles()
            try session.keepHouse(at: wallTime)
            tell { _ in }
            if syncDue == nil { syncDue = now + file.options.syncInterval }
        } catch {
            fail(error)
        }
    }

    /// Brings the log into the file, if it has become long; rather when nobody waits.
    private func checkpoint() {
        let pages = session.database.pagesInLog
        guard failure == nil, pages >= checkpointAt, mailbox.isEmpty || pages >= 4 * checkpointAt else {
            return
        }
        do throws(StorageError) {
            try guardFiles()
            let left = try session.database.checkpoint()
            // What somebody still reads has to stay, and the log grows meanwhile.
            checkpointAt = left + file.options.checkpointPages
        } catch {
            checkpointAt = pages + file.options.checkpointPages
            if error.reason != .full { fail(error) }
        }
    }
}
