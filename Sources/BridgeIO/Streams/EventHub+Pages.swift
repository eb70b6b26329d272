internal import BridgeCore

/// What a subscriber gets for itself alone: pages of what the log has.
extension EventHub {
    /// What is read from the log for one subscriber at a time; a larger record comes alone.
    private static let pageBytes = Feed.largeBytes
    private static let pageRecords = 512
    /// What a record counts for at least, as the bytes around its payload have to be held as well.
    private static let leastPerRecord = pageBytes / pageRecords

    /// What is read for one subscriber at a time.
    var pageSize: (records: Int, bytes: Int) {
        memory.pages = pages.bytes
        let bytes = memory.pageSize(wanted: EventHub.pageBytes)
        return (min(EventHub.pageRecords, bytes / EventHub.leastPerRecord), bytes)
    }

    /// Bytes that are to be added to a subscriber's page.
    struct PageDraft {
        var bytes: [UInt8] = []
        var records = 0

        var isEmpty: Bool { bytes.isEmpty }
    }

    /// Adds what a subscriber gets of these entries.
    func add(_ entries: [LogEntry], to page: inout PageDraft, of subscriber: Subscriber) {
        for entry in entries where subscriber.remaining != 0 { add(entry, to: &page, of: subscriber) }
        if !page.isEmpty { subscriber.lastMove = loop.now }
    }

    private func add(_ entry: LogEntry, to page: inout PageDraft, of subscriber: Subscriber) {
        switch entry {
        case .gap(let gap):
            subscriber.feed.encoder.append(gap, to: &page.bytes)
            count(gap, of: subscriber)
        case .record(let record) where subscriber.feed.filter.accepts(record):
            subscriber.remaining = subscriber.remaining.map { $0 - 1 }
            subscriber.lastMove = loop.now
            let name = log.name(of: record.connection)
            guard record.byteCount > Feed.largeBytes else {
                subscriber.feed.encoder.append(record, of: name, to: &page.bytes)
                page.records += 1
                return
            }
            subscriber.enqueue(page.bytes, records: page.records)
            page = PageDraft()
            let large = subscriber.feed.page(record, of: name)
            lastLarge = large
            subscriber.enqueue(large, records: 1)
        case .record(let record):
            allowance.spend(on: record, subscriber.feed.filter)
        }
    }

    /// Gives a subscriber its page, and the end if that was all it wanted.
    func finish(_ page: PageDraft, of subscriber: Subscriber) {
        var page = page
        if subscriber.remaining == 0 {
            page.bytes += subscriber.feed.key.framing.end
            subscriber.phase = .ending
        }
        subscriber.enqueue(page.bytes, records: page.records)
        if subscriber.hasPage { subscriber.hasID = true }
    }

    /// Makes a page of the id at which a subscriber stands that has got none, if its format has one.
    ///
    /// A client that is interrupted before its first event would come back without an id, and lose what came meanwhile.
    func tellPosition(_ subscriber: Subscriber, _ cursor: LogCursor) -> Bool {
        guard !subscriber.hasID else { return false }
        subscriber.hasID = true
        var position: [UInt8] = []
        subscriber.feed.encoder.appendPosition(cursor.position, to: &position)
        subscriber.enqueue(position)
        return subscriber.hasPage
    }
}
