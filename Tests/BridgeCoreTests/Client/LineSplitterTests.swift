import BridgeCore
import Testing

@Suite struct `Lines of the input` {
    private func lines(_ pieces: [[UInt8]], limit: Int = 100) throws -> [String] {
        var splitter = LineSplitter(limit: limit)
        var lines: [String] = []
        let take: (LineSplitter.Line) -> Bool = { line in
            lines.append("\(line.number):\(String(decoding: line.bytes, as: UTF8.self))")
            return true
        }
        for piece in pieces { _ = try splitter.read(piece[...], take) }
        _ = splitter.close(take)
        return lines
    }

    @Test(arguments: [
        ("a\nb\n", ["1:a", "2:b"]), ("a\nb", ["1:a", "2:b"]), ("a\r\nb\r", ["1:a", "2:b"]), ("", []),
        ("\n\r\n\na\n\n", ["4:a"]), ("a\rb\n", ["1:a\rb"]), (" \n", ["1: "]), ("\r\r\n", ["1:\r"]),
    ])
    func `are the same in whatever pieces they come`(text: String, expected: [String]) throws {
        let bytes = Array(text.utf8)
        #expect(try lines([bytes]) == expected)
        #expect(try lines(bytes.map { [$0] }) == expected)
    }

    @Test func `end when nobody wants more`() throws {
        var splitter = LineSplitter()
        var taken = 0
        let goesOn = try splitter.read(Array("a\nb\nc\n".utf8)[...]) { _ in
            taken += 1
            return taken < 2
        }
        #expect(!goesOn)
        #expect(taken == 2)
    }

    @Test func `are bounded, each by itself`() throws {
        #expect(try lines([Array("12345\n12345\n".utf8)], limit: 5).count == 2)
        #expect(throws: LineSplitter.TooLong(number: 2, limit: 5)) {
            try lines([Array("12345\n123".utf8), Array("456".utf8)], limit: 5)
        }
    }
}
