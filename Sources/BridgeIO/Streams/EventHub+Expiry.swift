package import BridgeCore

extension EventHub {
    /// The least time between two looks for records that have become too old.
    ///
    /// Readers never see them later than that: whoever reads looks first.
    private static let expiryInterval = Duration.seconds(1)

    /// Forgets what is too old by now, before someone reads.
    package func expire() {
        guard isAgeing else { return }
        forgetOldRecords()
    }

    /// What is kept of a connection.
    package func historyStatus(of connection: ConnectionIndex) -> HistoryStatus {
        // Where all are asked for in a row, to look at all of them each time would be too much.
        if isAgeing { log.expire(connection, at: loop.wallTime) }
        return log.status(of: connection)
    }

    /// Sees to it that records go in time even if nothing comes and nobody reads.
    func watchAge() {
        guard expiryTimer == nil, let due = log.nextExpiry else { return }
        let wait = Duration.milliseconds(due.millisecondsSince1970 - loop.wallTime.millisecondsSince1970 + 1)
        expiryTimer = loop.startTimer(after: max(wait, EventHub.expiryInterval)) { [unowned self] in
            expiryTimer = nil
            forgetOldRecords()
            dropOutrun()
            watchAge()
        }
    }
}
