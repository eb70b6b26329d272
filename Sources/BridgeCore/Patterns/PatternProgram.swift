/// A regular expression as a small machine with many places at once (Thompson's construction).
///
/// Each character is looked at once, whatever the text: the work is at most its length times `instructions.count`.
struct PatternProgram: Sendable {
    enum Instruction: Sendable {
        /// Goes on with a character of the set with this number.
        case character(set: Int, next: Int)
        /// Goes on at both places.
        case fork(Int, Int)
        case assertion(PatternNode.Assertion, next: Int)
        case match
    }

    static let mostInstructions = 1000

    private(set) var instructions: [Instruction] = []
    private(set) var start = 0
    private(set) var alphabet = PatternAlphabet()
    /// Counts what it takes to compile the pattern, which repetitions of nothing make long and not large.
    private var effort = 0
    private static let mostEffort = 100_000

    init(_ node: PatternNode) throws(MalformedPattern) {
        let end = try add(.match)
        start = try add(node, then: end)
        alphabet.finish()
    }

    private mutating func add(_ instruction: Instruction) throws(MalformedPattern) -> Int {
        guard instructions.count < PatternProgram.mostInstructions else {
            throw MalformedPattern("it is too large: its repetitions come to more than 1000 steps")
        }
        instructions.append(instruction)
        return instructions.count - 1
    }

    /// Compiles back to front: `next` is where to go on; returns where to begin.
    private mutating func add(_ node: PatternNode, then next: Int) throws(MalformedPattern) -> Int {
        effort += 1
        guard effort <= PatternProgram.mostEffort else {
            throw MalformedPattern("it is too large: its repetitions come to too many steps")
        }
        switch node {
        case .empty:
            return next
        case .character(let set):
            return try add(.character(set: alphabet.number(of: set), next: next))
        case .assertion(let assertion):
            alphabet.distinguish(assertion)
            return try add(.assertion(assertion, next: next))
        case .sequence(let parts):
            var next = next
            for part in parts.reversed() { next = try add(part, then: next) }
            return next
        case .choice(let branches):
            var start: Int?
            for branch in branches.reversed() {
                let entry = try add(branch, then: next)
                if let other = start { start = try add(.fork(entry, other)) } else { start = entry }
            }
            return start ?? next
        case .repetition(let part, let least, let most):
            var entry =
                if let most { try optional(part, most - least, then: next) } else {
                    try endless(part, then: next)
                }
            for _ in 0..<least { entry = try add(part, then: entry) }
            return entry
        }
    }

    private mutating func optional(
        _ part: PatternNode,
        _ count: Int,
        then next: Int
    ) throws(MalformedPattern) -> Int {
        var entry = next
        for _ in 0..<count { entry = try add(.fork(try add(part, then: entry), next)) }
        return entry
    }

    private mutating func endless(_ part: PatternNode, then next: Int) throws(MalformedPattern) -> Int {
        let fork = try add(.fork(next, next))
        instructions[fork] = .fork(try add(part, then: fork), next)
        return fork
    }
}

// MARK: - Running

extension PatternProgram {
    /// Where the machine is between two characters.
    struct Situation: Hashable, Sendable {
        /// Instructions to go on with, in order and each once.
        var places: [Int]
        /// What was in front.
        var before: Surrounding
    }

    /// What assertions see of a character, or of an end of the text.
    enum Surrounding: Hashable, Sendable {
        case textStart, textEnd, lineFeed, word, other
    }

    var beginning: Situation { Situation(places: [start], before: .textStart) }

    /// Takes a character of this class, nil: the end of the text; nil: it has matched.
    func step(_ situation: Situation, _ symbol: Int?) -> Situation? {
        let after = symbol.map { alphabet.surrounding(of: $0) } ?? .textEnd
        var seen = Array(repeating: false, count: instructions.count)
        var wanted = seen
        var pending = situation.places
        while let place = pending.popLast() {
            guard !seen[place] else { continue }
            seen[place] = true
            switch instructions[place] {
            case .match: return nil
            case .fork(let one, let other): pending += [one, other]
            case .assertion(let assertion, let next):
                if assertion.holds(between: situation.before, and: after) { pending.append(next) }
            case .character(let set, let next):
                if let symbol, alphabet.contains(symbol, inSet: set) { wanted[next] = true }
            }
        }
        // A match may begin at every character.
        wanted[start] = true
        return Situation(places: wanted.indices.filter { wanted[$0] }, before: after)
    }

    func matches(_ text: Span<UInt8>) -> Bool {
        var situation = beginning
        var index = 0
        while index < text.count {
            guard let next = step(situation, alphabet.symbol(of: text, at: &index)) else { return true }
            situation = next
        }
        return step(situation, nil) == nil
    }
}

extension PatternNode.Assertion {
    fileprivate func holds(
        between before: PatternProgram.Surrounding,
        and after: PatternProgram.Surrounding
    ) -> Bool {
        switch self {
        case .textStart: before == .textStart
        case .textEnd: after == .textEnd
        case .lineStart: before == .textStart || before == .lineFeed
        case .lineEnd: after == .textEnd || after == .lineFeed
        case .wordBoundary: (before == .word) != (after == .word)
        case .noWordBoundary: (before == .word) == (after == .word)
        }
    }
}
