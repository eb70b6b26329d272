/// Bounds the pongs that wait to be written, so that a flood of pings costs neither memory nor bandwidth.
///
/// Every ping is answered while few pongs wait; beyond that only the newest is, as RFC 6455 §5.5.3 allows.
struct PongBacklog: Equatable, Sendable {
    /// Pongs handed out and not yet written, at most; of 125 bytes each, so 8 KiB.
    static let limit = 64

    private var unwritten = 0
    private var newest: [UInt8]?

    /// A ping came: the payload to answer with now, if any.
    mutating func pinged(_ payload: [UInt8]) -> [UInt8]? {
        guard unwritten < PongBacklog.limit else {
            newest = payload
            return nil
        }
        unwritten += 1
        return payload
    }

    /// The kernel took a pong: the payload to answer with now, if any.
    mutating func pongWritten() -> [UInt8]? {
        unwritten = max(unwritten - 1, 0)
        guard let payload = newest else { return nil }
        newest = nil
        unwritten += 1
        return payload
    }
}
