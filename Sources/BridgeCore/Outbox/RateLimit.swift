/// At most so many frames in any span of this length: what the configuration says under `rate`.
package struct RateSettings: Equatable, Sendable {
    /// At least 1.
    package var messages: Int
    package var per: Duration

    package init(messages: Int, per: Duration) {
        self.messages = messages
        self.per = per
    }
}

/// Keeps what is sent below a rate: in no span of `per`, wherever it begins, are there more than `messages` frames.
///
/// A frame counts from when a socket is handed it, and then for one span from when the kernel took it, so that frames
/// which pile up behind a slow peer do not go out in a burst. It belongs to a connection and not to a socket: a new
/// socket does not begin a new span.
package struct RateLimit: Sendable {
    private var settings: RateSettings
    /// Frames that a socket was handed and that the kernel has not taken yet; no entry is zero.
    private var inHand: [SocketID: Int] = [:]
    /// When the kernel took frames, of the last span; at most `messages` of them.
    private var taken = Queue<Instant>()

    package init(_ settings: RateSettings) {
        self.settings = settings
    }

    /// Another rate, to which what was sent lately counts too.
    package mutating func change(to settings: RateSettings) {
        self.settings = settings
        bound()
    }

    /// How many frames may go now.
    package mutating func room(now: Instant) -> Int {
        while let oldest = taken.first, oldest + settings.per <= now { taken.popFirst() }
        return max(0, settings.messages - inHand.values.reduce(0, +) - taken.count)
    }

    /// When there is room again, if there is none; nil while the kernel has yet to take what was handed over.
    package var opening: Instant? { taken.first.map { $0 + settings.per } }

    /// A socket took a frame; there must have been room for it.
    package mutating func handed(to socket: SocketID) {
        inHand[socket, default: 0] += 1
    }

    /// The kernel took the oldest frame that the socket was handed; without effect if that does not count.
    package mutating func written(on socket: SocketID, now: Instant) {
        guard let count = inHand[socket] else { return }
        inHand[socket] = count > 1 ? count - 1 : nil
        taken.append(now)
        bound()
    }

    /// The socket is gone: what it still had may have been taken all the same, and counts as if it was.
    package mutating func lost(_ socket: SocketID, now: Instant) {
        while inHand[socket] != nil { written(on: socket, now: now) }
    }

    private mutating func bound() {
        while taken.count > settings.messages { taken.popFirst() }
    }
}
