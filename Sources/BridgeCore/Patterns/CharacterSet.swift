/// Characters of a regular expression, as Unicode scalars: in order, without overlaps.
struct CharacterSet: Equatable, Hashable, Sendable {
    private(set) var ranges: [ClosedRange<UInt32>] = []

    static let last: UInt32 = 0x10FFFF
    static let all = CharacterSet([0...last])
    static let digits = CharacterSet([0x30...0x39])
    static let word = CharacterSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = CharacterSet([0x09...0x0D, 0x20...0x20])
    static let lineFeed = CharacterSet([0x0A...0x0A])

    init(_ ranges: [ClosedRange<UInt32>]) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let previous = self.ranges.last, range.lowerBound <= previous.upperBound + 1 {
                let end = max(previous.upperBound, range.upperBound)
                self.ranges[self.ranges.count - 1] = previous.lowerBound...end
            } else {
                self.ranges.append(range)
            }
        }
    }

    init(_ scalar: Unicode.Scalar) {
        ranges = [scalar.value...scalar.value]
    }

    /// Every other character.
    var inverted: CharacterSet {
        var inverted: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { inverted.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= CharacterSet.last { inverted.append(next...CharacterSet.last) }
        return CharacterSet(inverted)
    }

    /// With the other case of each ASCII letter.
    var ignoringCase: CharacterSet {
        var more = ranges
        for range in ranges {
            for (letters, distance) in [(0x41...0x5A as ClosedRange<UInt32>, 32), (0x61...0x7A, -32)] {
                guard range.overlaps(letters) else { continue }
                let part = range.clamped(to: letters)
                let first = UInt32(Int(part.lowerBound) + distance)
                more.append(first...first + (part.upperBound - part.lowerBound))
            }
        }
        return CharacterSet(more)
    }

    func contains(_ scalar: UInt32) -> Bool {
        ranges.contains { $0.contains(scalar) }
    }
}
