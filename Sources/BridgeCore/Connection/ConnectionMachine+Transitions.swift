extension ConnectionMachine {
    /// A way from one state to another that a single event can take.
    package struct Transition: Sendable {
        package let from: Standing
        /// Nil: the end.
        package let to: Standing?
        /// What takes it, in words for people.
        package let cause: String
    }

    /// All there are: nothing else ever happens, which every step is checked for in debug builds.
    ///
    /// [docs/connection.md](../../../docs/connection.md) shows them.
    package static let transitions: [Transition] = [
        from(.idle, to: .connecting, "start, connect, reconnect; a reader or a message (`onDemand`)"),
        from(.idle, to: .waiting, "a reader or a message while the delay after a loss lasts (`onDemand`)"),
        from(.idle, to: .offline, "the same but connect and reconnect, without a network"),
        from(.idle, to: .paused, "pause"),
        from(.idle, to: .closed, "disconnect"),
        from(.idle, to: nil, ended),

        from(.connecting, to: .open, "the handshake is complete"),
        from(.connecting, to: .waiting, "the attempt failed, or its time is over"),
        from(.connecting, to: .offline, "the network was lost, or the attempt failed without one"),
        from(.connecting, to: .idle, "the attempt failed, and nobody needs the connection (`onDemand`)"),
        from(.connecting, to: .failed, "the last of `maxRetries` failed; a status of `stopOnStatus` came"),
        from(.connecting, to: .closed, "disconnect; the attempt failed, without `reconnect.enabled`"),
        from(.connecting, to: .paused, "pause"),
        from(.connecting, to: .connecting, "reconnect, with a new socket"),
        from(.connecting, to: nil, ended),

        from(.open, to: .closing, "disconnect, pause, the end; the upstream closes, or broke the protocol"),
        from(.open, to: .waiting, "the socket ended, or the heartbeat was lost"),
        from(.open, to: .offline, "the network was lost, or the socket ended without one"),
        from(.open, to: .idle, "the socket ended, and nobody needs the connection (`onDemand`)"),
        from(.open, to: .failed, "the socket ended, and `maxRetries` are used up"),
        from(.open, to: .closed, "the socket ended, and that is final, as `reconnect` has it"),
        from(.open, to: .connecting, "reconnect"),

        from(.closing, to: .waiting, "the socket ended, or `closeTimeout` is over"),
        from(.closing, to: .offline, "the same, without a network"),
        from(.closing, to: .idle, "the same, and nobody needs the connection (`onDemand`)"),
        from(.closing, to: .failed, "the same, and `maxRetries` are used up"),
        from(.closing, to: .closed, "the same, and that is final, as `reconnect` or the user has it"),
        from(.closing, to: .paused, "the same, after pause"),
        from(.closing, to: .connecting, "the same, after connect or resume, or for a reader; reconnect"),
        from(.closing, to: nil, "the same, after the end; or at once, if its name is needed"),

        from(.waiting, to: .connecting, "the delay is over; connect, reconnect"),
        from(.waiting, to: .offline, "the network was lost"),
        from(.waiting, to: .idle, "the delay is over, and nobody needs the connection (`onDemand`)"),
        from(.waiting, to: .paused, "pause"),
        from(.waiting, to: .closed, "disconnect"),
        from(.waiting, to: nil, ended),

        from(.offline, to: .connecting, "the network is back; connect, reconnect"),
        from(.offline, to: .waiting, "the network is back before `Retry-After` is over"),
        from(.offline, to: .idle, "the network is back, and nobody needs the connection (`onDemand`)"),
        from(.offline, to: .paused, "pause"),
        from(.offline, to: .closed, "disconnect"),
        from(.offline, to: nil, ended),

        from(.paused, to: .connecting, "resume, connect, reconnect"),
        from(.paused, to: .offline, "resume, without a network"),
        from(.paused, to: .idle, "resume, where nothing had asked for the connection"),
        from(.paused, to: .closed, "disconnect"),
        from(.paused, to: nil, ended),

        from(.closed, to: .connecting, "connect, reconnect"),
        from(.closed, to: nil, ended),

        from(.failed, to: .connecting, "connect, reconnect; a message (`outbox.wakes`)"),
        from(.failed, to: .offline, "a message (`outbox.wakes`), without a network"),
        from(.failed, to: .closed, "disconnect"),
        from(.failed, to: nil, ended),
    ]

    private static let ended = "the end"

    private static func from(_ from: Standing, to: Standing?, _ cause: String) -> Transition {
        Transition(from: from, to: to, cause: cause)
    }

    /// Nil at the end.
    var place: Standing? {
        if case .stopped = state { nil } else { standing }
    }

    static func allows(_ from: Standing?, _ to: Standing?) -> Bool {
        from == to || transitions.contains { $0.from == from && $0.to == to }
    }
}
