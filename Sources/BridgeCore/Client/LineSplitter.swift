/// Cuts what is read from a pipe or a file into lines.
///
/// A line ends with LF; a CR before that belongs to the end. Empty lines count but are not handed on.
package struct LineSplitter: Sendable {
    /// A line that has something in it.
    package struct Line: Equatable, Sendable {
        /// Counted from 1, empty lines included.
        package var number: Int
        package var bytes: [UInt8]

        package init(number: Int, bytes: [UInt8]) {
            self.number = number
            self.bytes = bytes
        }
    }

    /// A line is longer than the limit.
    package struct TooLong: Error, Equatable, Sendable {
        package var number: Int
        package var limit: Int

        package init(number: Int, limit: Int) {
            self.number = number
            self.limit = limit
        }
    }

    private let limit: Int
    private var rest: [UInt8] = []
    private var number = 1

    package init(limit: Int = 64 << 20) {
        self.limit = limit
    }

    /// Takes in what was read, and calls `take` with each line that it completes, until that returns false.
    package mutating func read(
        _ input: ArraySlice<UInt8>,
        _ take: (Line) -> Bool
    ) throws(TooLong) -> Bool {
        var input = input
        while let end = input.firstIndex(of: 0x0A) {
            try add(input[..<end])
            input = input[(end + 1)...]
            guard endLine(take) else { return false }
        }
        try add(input)
        return true
    }

    /// The input is over; what has no line end is a line, too.
    package mutating func close(_ take: (Line) -> Bool) -> Bool {
        endLine(take)
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) throws(TooLong) {
        guard rest.count + bytes.count <= limit else { throw TooLong(number: number, limit: limit) }
        rest += bytes
    }

    private mutating func endLine(_ take: (Line) -> Bool) -> Bool {
        if rest.last == 0x0D { rest.removeLast() }
        let line = Line(number: number, bytes: rest)
        rest.removeAll(keepingCapacity: rest.capacity <= 64 << 10)
        number += 1
        return line.bytes.isEmpty || take(line)
    }
}
