/// The characters as a regular expression tells them apart: those that it treats alike are one symbol.
struct PatternAlphabet: Sendable {
    private var sets: [CharacterSet] = []
    private var numbers: [CharacterSet: Int] = [:]
    /// Word characters and line feeds, where assertions ask for them.
    private var distinctions: Set<CharacterSet> = []
    /// The first character of each symbol, in order.
    private var starts: [UInt32] = [0]
    /// The symbols of ASCII.
    private var ascii: [Int] = []
    private var surroundings: [PatternProgram.Surrounding] = []
    /// By set, by symbol.
    private var contents: [[Bool]] = []

    var count: Int { starts.count }

    mutating func number(of set: CharacterSet) -> Int {
        if let number = numbers[set] { return number }
        sets.append(set)
        numbers[set] = sets.count - 1
        return sets.count - 1
    }

    mutating func distinguish(_ assertion: PatternNode.Assertion) {
        switch assertion {
        case .textStart, .textEnd: break
        case .lineStart, .lineEnd: distinctions.insert(.lineFeed)
        case .wordBoundary, .noWordBoundary: distinctions.insert(.word)
        }
    }

    /// All sets are known.
    mutating func finish() {
        var borders: Set<UInt32> = [0]
        for range in (sets + distinctions).flatMap(\.ranges) {
            borders.insert(range.lowerBound)
            if range.upperBound < CharacterSet.last { borders.insert(range.upperBound + 1) }
        }
        starts = borders.sorted()
        ascii = (0..<128).map { symbol(of: $0) }
        surroundings = starts.map { start in
            if distinctions.contains(.lineFeed), start == 0x0A { return .lineFeed }
            return distinctions.contains(.word) && CharacterSet.word.contains(start) ? .word : .other
        }
        contents = sets.map { set in starts.map(set.contains) }
    }

    func surrounding(of symbol: Int) -> PatternProgram.Surrounding { surroundings[symbol] }

    func contains(_ symbol: Int, inSet set: Int) -> Bool { contents[set][symbol] }

    /// The symbol of the character at an index of a text, which is moved behind it.
    func symbol(of text: Span<UInt8>, at index: inout Int) -> Int {
        let first = text[index]
        index &+= 1
        guard first >= 0x80 else { return ascii[Int(first)] }
        // Valid UTF-8 (RFC 3629): the first byte tells how many follow, of which each holds six bits.
        let more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
        var scalar = UInt32(first) & (0x3F >> UInt32(more))
        for _ in 0..<more where index < text.count {
            scalar = scalar << 6 | UInt32(text[index] & 0x3F)
            index &+= 1
        }
        return symbol(of: scalar)
    }

    private func symbol(of scalar: UInt32) -> Int {
        var low = 0
        var high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= scalar { low = middle } else { high = middle }
        }
        return low
    }
}
