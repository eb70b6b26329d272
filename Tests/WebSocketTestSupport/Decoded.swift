package import WebSocketProtocol

/// What a decoder made of some bytes.
package struct Decoded: Equatable, Sendable {
    package var events: [FrameEvent] = []
    package var failure: WebSocketFailure?
    /// How many bytes had been handed over when it failed.
    package var failedAfter: Int?

    package init() {}
}

/// Feeds `bytes` to a new client's decoder, in pieces that end at `cuts` (ascending) and at the end.
package func decode(
    _ bytes: [UInt8],
    cuts: [Int] = [],
    role: Role = .client,
    limit: Int = 1 << 20,
    inflater: (any MessageInflater)? = nil
) -> Decoded {
    var decoder = FrameDecoder(role: role, maximumMessageBytes: limit, inflater: inflater)
    var decoded = Decoded()
    var start = 0
    for end in cuts + [bytes.count] {
        let piece = bytes.span.extracting(start..<end)
        var offset = 0
        do throws(WebSocketFailure) {
            while let event = try decoder.next(in: piece, from: &offset) { decoded.events.append(event) }
        } catch {
            decoded.failure = error
            decoded.failedAfter = end
            return decoded
        }
        start = end
    }
    return decoded
}

/// The same in pieces of `size` bytes.
package func decode(
    _ bytes: [UInt8],
    pieces size: Int,
    role: Role = .client,
    limit: Int = 1 << 20,
    inflater: (any MessageInflater)? = nil
) -> Decoded {
    let cuts = Array(stride(from: size, to: bytes.count, by: size))
    return decode(bytes, cuts: cuts, role: role, limit: limit, inflater: inflater)
}
