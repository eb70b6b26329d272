package import BridgeCore

/// Polls that wait until there is something to answer.
final class PollRoom {
    private final class Group {
        var polls: [ObjectIdentifier: WaitingPoll] = [:]
        var hasNews = false
    }

    /// By what they wait for, so that a record is compared once with all that wait for the same.
    private var groups: [StreamFilter: Group] = [:]
    private(set) var count = 0
    private(set) var hasNews = false
    /// A poll of these connections came or went.
    var onChange: (ConnectionSelection) -> Void = { _ in }

    func isWaiting(for connection: ConnectionIndex) -> Bool {
        groups.keys.contains { $0.connections.contains(connection) }
    }

    func enter(_ waiting: WaitingPoll) {
        let group = groups[waiting.poll.filter] ?? Group()
        groups[waiting.poll.filter] = group
        group.polls[ObjectIdentifier(waiting)] = waiting
        count += 1
        onChange(waiting.poll.filter.connections)
    }

    func leave(_ waiting: WaitingPoll) {
        guard let group = groups[waiting.poll.filter],
            group.polls.removeValue(forKey: ObjectIdentifier(waiting)) != nil
        else { return }
        count -= 1
        if group.polls.isEmpty { groups[waiting.poll.filter] = nil }
        onChange(waiting.poll.filter.connections)
    }

    /// A record was appended.
    func noticed(_ record: Record) {
        for (filter, group) in groups where !group.hasNews && filter.accepts(record) {
            group.hasNews = true
            hasNews = true
        }
    }

    /// Answers those for whom something came.
    func answer(_ log: EventLog) {
        guard hasNews else { return }
        hasNews = false
        for group in groups.values where group.hasNews {
            group.hasNews = false
            for waiting in group.polls.values { waiting.look(log) }
        }
    }

    /// Answers all that wait for what `isMeant` says, with nothing where nothing came.
    func answerAll(_ log: EventLog, where isMeant: (StreamFilter) -> Bool = { _ in true }) {
        for (filter, group) in groups where isMeant(filter) {
            for waiting in group.polls.values { waiting.finish(log) }
        }
    }
}

/// A poll whose answer waits for the first record, or for the end of its patience.
///
/// Letting go of it has no effect: it is the hub's until it is answered.
package final class WaitingPoll {
    private(set) var poll: Poll
    private let room: PollRoom
    private var answer: ((PollPage) -> Void)?
    fileprivate(set) var timer: LoopTimer?

    fileprivate init(_ poll: Poll, in room: PollRoom, answer: @escaping (PollPage) -> Void) {
        self.poll = poll
        self.room = room
        self.answer = answer
    }

    /// Answers if there is something.
    fileprivate func look(_ log: EventLog) {
        let page = poll.read(log)
        if !page.isEmpty { finish(page) }
    }

    /// Answers with what there is.
    fileprivate func finish(_ log: EventLog) { finish(poll.read(log)) }

    private func finish(_ page: PollPage) {
        guard let answer else { return }
        self.answer = nil
        timer = nil
        room.leave(self)
        answer(page)
    }
}

extension EventHub {
    /// Answers a poll as soon as there is something, or when `patience` is over, but not before this returns.
    package func wait(
        _ poll: Poll,
        for patience: Duration,
        answer: @escaping (PollPage) -> Void
    ) -> WaitingPoll {
        let waiting = WaitingPoll(poll, in: polls, answer: answer)
        polls.enter(waiting)
        waiting.timer = loop.startTimer(after: patience) { [unowned self, weak waiting] in
            expire()
            waiting?.finish(log)
        }
        return waiting
    }

    /// Answers a poll with what there is, maybe nothing; idempotent.
    package func answer(_ waiting: WaitingPoll) {
        waiting.finish(log)
    }
}
