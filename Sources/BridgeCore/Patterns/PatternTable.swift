/// A regular expression worked out in advance: for each situation and each symbol the next situation.
///
/// Then a character takes one look into the table.
struct PatternTable: Sendable {
    private static let mostEntries = 20_000
    /// Matched: nothing more is to be looked at.
    private static let matched = UInt16.max

    private let alphabet: PatternAlphabet
    /// By situation, by symbol, with the end of the text as the last one.
    private var next: [UInt16] = []
    private let width: Int

    /// Nil if it would be too large.
    init?(_ program: PatternProgram) {
        alphabet = program.alphabet
        width = alphabet.count + 1
        var situations = [program.beginning]
        var numbers = [program.beginning: 0]
        var index = 0
        while index < situations.count {
            guard situations.count * width <= PatternTable.mostEntries else { return nil }
            for symbol in 0..<width {
                let isEnd = symbol == alphabet.count
                guard let following = program.step(situations[index], isEnd ? nil : symbol) else {
                    next.append(PatternTable.matched)
                    continue
                }
                // What follows the end is never looked at.
                let number = isEnd ? 0 : numbers[following] ?? situations.count
                next.append(UInt16(number))
                if !isEnd, number == situations.count {
                    numbers[following] = number
                    situations.append(following)
                }
            }
            index += 1
        }
    }

    func matches(_ text: Span<UInt8>) -> Bool {
        let next = next.span
        var situation = 0
        var index = 0
        while index < text.count {
            let following = next[situation &* width &+ alphabet.symbol(of: text, at: &index)]
            if following == PatternTable.matched { return true }
            situation = Int(following)
        }
        return next[situation &* width &+ width &- 1] == PatternTable.matched
    }
}
