import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// Deterministic fuzzing: hostile bytes never trap, and where they are cut changes nothing.
@Suite struct `Frame decoder under fuzzing` {
    private static let seed: UInt64 = 0x5EED_0FF2_A3E5

    /// Frames of all kinds and length forms, as a server or a client sends them.
    private func traffic(_ role: Role, _ random: inout SeededGenerator) -> [UInt8] {
        var encoder = FrameEncoder(role: role)
        var output: [UInt8] = []
        for count in [0, 1, 60, 125, 126, 200, 300] {
            let text = String(repeating: "aé€😀", count: count / 10)
            encoder.append(Message(.text, Array(text.utf8)), to: &output, random: &random)
            encoder.append(Message(.binary, random.bytes(count)), to: &output, random: &random)
            encoder.appendPing(random.bytes(count), to: &output, random: &random)
        }
        encoder.appendPong([], to: &output, random: &random)
        encoder.appendClose(code: 1013, reason: "a", to: &output, random: &random)
        return output
    }

    /// Fragments with control frames between them, plain and compressed.
    private func fragments(_ random: inout SeededGenerator) -> [UInt8] {
        rawFrame(0x01, text: "a€") + rawFrame(0x89, random.bytes(3)) + rawFrame(0x00, [0xE2, 0x82])
            + rawFrame(0x80, [0xAC]) + rawFrame(0x42, text: "xyz") + rawFrame(0x80, text: "z")
    }

    @Test(arguments: [Role.client, .server])
    func `every split position gives the same events`(role: Role) {
        var random = SeededGenerator(seed: Self.seed)
        let bytes = traffic(role == .client ? .server : .client, &random)
        let whole = decode(bytes, role: role, inflater: Doubling())
        #expect(whole.events.last == .close(code: 1013, reason: "a"))
        #expect(whole.failure == nil)
        let differing = (0...bytes.count).filter { cut in
            decode(bytes, cuts: [cut], role: role, inflater: Doubling()) != whole
        }
        #expect(differing == [], "seed \(Self.seed)")
        #expect(decode(bytes, pieces: 1, role: role, inflater: Doubling()) == whole)
    }

    @Test func `compressed fragments are the same at every split position`() {
        var random = SeededGenerator(seed: Self.seed)
        let bytes = fragments(&random)
        let whole = decode(bytes, inflater: Doubling())
        #expect(whole.events.last == .message(Message(.binary, Array("xxyyzzzz.".utf8))))
        let differing = (0...bytes.count).filter { decode(bytes, cuts: [$0], inflater: Doubling()) != whole }
        #expect(differing == [], "seed \(Self.seed)")
    }

    @Test func `mutated traffic never traps, and where it is cut changes nothing`() {
        var random = SeededGenerator(seed: Self.seed)
        let intact = fragments(&random) + traffic(.server, &random).prefix(700)
        for round in 0..<4000 {
            var bytes = intact
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
            }
            expectSameWhereverCut(bytes, &random, round)
        }
    }

    @Test func `random bytes never trap, and where they are cut changes nothing`() {
        var random = SeededGenerator(seed: Self.seed)
        for round in 0..<20_000 {
            let bytes = random.bytes(Int.random(in: 1...40, using: &random))
            expectSameWhereverCut(bytes, &random, round)
        }
    }

    @Test func `hostile lengths in any frame never trap`() {
        var random = SeededGenerator(seed: Self.seed)
        let lengths: [UInt64] = [
            0, 1, 125, 126, 65535, 65536, 1 << 31, 1 << 32, UInt64(Int64.max) - 1, UInt64(Int64.max),
            1 << 63, .max,
        ]
        for first in UInt8.min...UInt8.max {
            for length in lengths {
                let head = [first, 127] + bigEndian(length, width: 8)
                let bytes = rawFrame(0x01, text: "open") + head + random.bytes(20)
                expectSameWhereverCut(bytes, &random, Int(first))
            }
        }
    }

    /// Failures come at the same events, though at a later byte when more was handed over at once.
    private func expectSameWhereverCut(_ bytes: [UInt8], _ random: inout SeededGenerator, _ round: Int) {
        let whole = decode(bytes, limit: 5000, inflater: Doubling())
        let cut = Int.random(in: 0...bytes.count, using: &random)
        let split = decode(bytes, cuts: [cut], limit: 5000, inflater: Doubling())
        let isSame = whole.events == split.events && whole.failure == split.failure
        #expect(isSame, "seed \(Self.seed), round \(round), cut \(cut)")
    }
}
