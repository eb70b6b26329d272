package import BridgeCore

/// Polls that wait until there is something to answer.
final class PollRoom {
    /// Those that wait for the same.
    private final class Group {
        let filter: StreamFilter
        var polls: [ObjectIdentifier: WaitingPoll] = [:]

        init(_ filter: StreamFilter) {
            self.filter = filter
        }
    }

    private var groups: [StreamFilter: Group] = [:]
    /// The groups for which nothing came yet.
    private var takers = TakerTable<Group>()
    /// The groups for which something came.
    private var due: [Group] = []
    /// Of filters.
    private(set) var combinations = CountedSet<StreamFilter>()
    private(set) var count = 0
    /// A poll of these connections came or went.
    var onChange: (ConnectionSelection) -> Void = { _ in }

    var hasNews: Bool { !due.isEmpty }

    func isWaiting(for connection: ConnectionIndex) -> Bool {
        groups.keys.contains { $0.connections.contains(connection) }
    }

    func enter(_ waiting: WaitingPoll) {
        let filter = waiting.poll.filter
        let group = groups[filter] ?? begin(Group(filter))
        group.polls[ObjectIdentifier(waiting)] = waiting
        count += 1
        onChange(filter.connections)
    }

    func leave(_ waiting: WaitingPoll) {
        guard let group = groups[waiting.poll.filter],
            group.polls.removeValue(forKey: ObjectIdentifier(waiting)) != nil
        else { return }
        count -= 1
        if group.polls.isEmpty { end(group) }
        onChange(group.filter.connections)
    }

    private func begin(_ group: Group) -> Group {
        groups[group.filter] = group
        takers.add(group, group.filter)
        combinations.insert(group.filter.combination)
        return group
    }

    private func end(_ group: Group) {
        groups[group.filter] = nil
        takers.remove(group, group.filter)
        combinations.remove(group.filter.combination)
    }

    /// A record was appended.
    func noticed(_ record: Record) {
        for group in takers.all(of: record) {
            takers.remove(group, group.filter)
            due.append(group)
        }
    }

    /// Answers those for whom something came.
    func answer(_ log: EventLog) {
        let groups = due
        due = []
        for group in groups {
            for waiting in group.polls.values { waiting.look(log) }
            // Some may have joined them meanwhile.
            if !group.polls.isEmpty { takers.add(group, group.filter) }
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
