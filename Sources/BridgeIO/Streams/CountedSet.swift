/// A set of what is there several times.
struct CountedSet<Member: Hashable> {
    private var counts: [Member: Int] = [:]

    /// How many different members there are.
    var count: Int { counts.count }

    func contains(_ member: Member) -> Bool { counts[member] != nil }

    mutating func insert(_ member: Member) { counts[member, default: 0] += 1 }

    /// Takes one of them out; there is at least one.
    mutating func remove(_ member: Member) {
        let left = (counts[member] ?? 1) - 1
        counts[member] = left > 0 ? left : nil
    }
}
