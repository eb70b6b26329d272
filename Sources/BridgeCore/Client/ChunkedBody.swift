/// Takes the chunks off a body (RFC 9112 §7.1); extensions and trailers are passed over.
struct ChunkedBody: Sendable {
    private enum State: Sendable {
        /// In the line of a chunk; digits are read until something else comes.
        case size(Int, digits: Int)
        case rest(ofLine: Int)
        case lineFeed(size: Int)
        case data(Int)
        case dataReturn
        case dataLineFeed
        /// At the start of a line of the trailer.
        case trailer
        case trailerLine
        case lastLineFeed
        case over
    }

    /// Of the line of a chunk, and of the trailer as a whole.
    private static let overheadLimit = 16 << 10

    private var state = State.size(0, digits: 0)
    private var overhead = 0

    /// Appends what of `input` from `offset` on is content; returns whether that was the end of the body.
    mutating func read(
        _ input: [UInt8],
        from offset: inout Int,
        into body: inout [UInt8]
    ) throws(HTTPReplyFailure) -> Bool {
        while offset < input.count {
            if case .data(let rest) = state {
                let piece = input[offset...].prefix(rest)
                body += piece
                offset += piece.count
                overhead = 0
                state = piece.count == rest ? .dataReturn : .data(rest - piece.count)
                continue
            }
            overhead += 1
            guard overhead <= ChunkedBody.overheadLimit else { throw .tooLarge }
            try step(input[offset])
            offset += 1
            if case .over = state { return true }
        }
        return false
    }

    private mutating func step(_ byte: UInt8) throws(HTTPReplyFailure) {
        let isReturn = byte == 0x0D
        let isLineFeed = byte == 0x0A
        switch state {
        case .size(let size, let digits):
            try readSize(byte, size, digits)
        case .rest(let size):
            guard !isLineFeed else { throw .malformed }
            if isReturn { state = .lineFeed(size: size) }
        case .lineFeed(let size):
            guard isLineFeed else { throw .malformed }
            state = size == 0 ? .trailer : .data(size)
        case .dataReturn:
            guard isReturn else { throw .malformed }
            state = .dataLineFeed
        case .dataLineFeed:
            guard isLineFeed else { throw .malformed }
            state = .size(0, digits: 0)
        case .trailer:
            state = isReturn ? .lastLineFeed : .trailerLine
        case .trailerLine:
            if isLineFeed { state = .trailer }
        case .lastLineFeed:
            guard isLineFeed else { throw .malformed }
            state = .over
        case .data, .over:
            throw .malformed
        }
    }

    private mutating func readSize(_ byte: UInt8, _ size: Int, _ digits: Int) throws(HTTPReplyFailure) {
        if let value = ChunkedBody.hexValue(byte) {
            guard size <= Int.max >> 5 else { throw .tooLarge }
            state = .size(size << 4 | value, digits: digits + 1)
            return
        }
        guard digits > 0 else { throw .malformed }
        switch byte {
        case 0x0D: state = .lineFeed(size: size)
        case UInt8(ascii: ";"), 0x20, 0x09: state = .rest(ofLine: size)
        default: throw .malformed
        }
    }

    private static func hexValue(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
