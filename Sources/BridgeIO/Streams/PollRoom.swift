internal import BridgeCore

/// Polls that wait until there is something to answer.
final class PollRoom {
    /// Those that wait for the same.
    private final class Group {
        let filter: StreamFilter
        var polls: [ObjectIdentifier: WaitingPoll] = [:]
        /// The first record that came for them and that they were not told of.
        var firstNews: UInt64?

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
            group.firstNews = record.sequence
            due.append(group)
        }
    }

    /// The first record that came for those who wait for this, since they were last told.
    func firstNews(for filter: StreamFilter) -> UInt64? { groups[filter]?.firstNews }

    /// Those for whom something came since the last call, and its first record.
    func takeDue() -> [(waiting: WaitingPoll, first: UInt64)] {
        let groups = due
        due = []
        return groups.filter { !$0.polls.isEmpty }.flatMap { group in
            takers.add(group, group.filter)
            let first = group.firstNews ?? 0
            group.firstNews = nil
            return group.polls.values.map { (waiting: $0, first: first) }
        }
    }

    /// Answers all that wait for what `isMeant` says, with nothing where nothing came.
    func answerAll(where isMeant: (StreamFilter) -> Bool = { _ in true }) {
        for (filter, group) in groups where isMeant(filter) {
            for waiting in group.polls.values { waiting.finish() }
        }
    }

    /// All that wait.
    var all: [WaitingPoll] { groups.values.flatMap(\.polls.values) }
}
