/// Makes hostile input that is the same for the same seed (SplitMix64).
struct RandomInput {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func number(below bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }

    /// Pieces of what a parser looks for, with random bytes between.
    mutating func bytes(of pieces: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<number(below: 8) {
            if number(below: 4) == 0 {
                bytes.append(UInt8(number(below: 256)))
            } else {
                bytes += pieces[number(below: pieces.count)].utf8
            }
        }
        return bytes
    }

    mutating func text(of pieces: [String]) -> String {
        String(decoding: bytes(of: pieces), as: UTF8.self)
    }
}
