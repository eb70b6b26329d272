internal import WebSocketProtocol

extension ConnectionMachine {
    /// Where the connection stands, with the data that is true just there.
    ///
    /// What each can become stands in `transitions`.
    enum State: Sendable {
        /// Not asked to connect.
        case idle
        /// One dial, or the question for its URL, is under way.
        case connecting(Attempt)
        /// Messages flow.
        case open(Session)
        /// A close frame was sent and the socket is about to end; then comes what its `next` says.
        case closing(Farewell)
        /// A retry is scheduled.
        case waiting(Pause)
        /// Wants a connection, and there is no way to the upstream.
        case offline(Absence)
        /// Down for a while by the user's wish.
        case paused(Afterwards)
        /// Down by the user's wish or a final close code.
        case closed
        /// Gave up.
        case failed
        /// The end: nothing happens any more.
        case stopped
    }

    struct Attempt: Sendable {
        let socket: SocketID
        /// One for all phases from the name lookup on, and one for the question for the URL.
        let deadline: TimerID
        /// Its URL is that of a session to resume.
        var isResumption = false
        var phase = DialPhase.dns
        /// What became of the addresses that were dialled.
        var account: String?
    }

    struct Session: Sendable {
        let socket: SocketID
        let subprotocol: String?
        let compression: Bool
        var heartbeat: Heartbeat
        /// Nil once the connection is ready.
        var script: ScriptRun?
        /// Nil when there are no heartbeats.
        var heartbeatTimer: TimerID?
        /// Nil once the connection was ready for `resetAfter`.
        var stableTimer: TimerID?
        /// Since when nobody needs a connection that is kept on demand; nil while someone does.
        var idleSince: Instant?
        /// Fires no later than it has been idle for too long.
        var idleTimer: TimerID?
        var pongs = PongBacklog()
        /// Messages that matched `heartbeat.expect` and are answered.
        var replies = AnswerBacklog<Message>()
        /// What rules have answered.
        var ruleReplies = ReplyLoad()
        /// Messages numbered so far by `{{counter}}`.
        var numbered = 0
    }

    struct Farewell: Sendable {
        /// What the socket owes us.
        enum Awaited: Sendable {
            /// The peer's close frame, then the end of the stream.
            case closeFrame(PongBacklog)
            /// The end of the stream; the record of it is known.
            case end(Outcome)
        }

        /// Where the connection goes from here.
        enum Next: Sendable {
            /// Dial again as after any loss, unless the close code forbids it.
            case retry
            /// Dial at once: a user asked for it meanwhile.
            case dial
            case stayClosed
            /// Nobody needs the connection, or did when this was decided.
            case idle
            case pause
            case stop
        }

        let socket: SocketID
        let deadline: TimerID
        /// Who began it.
        let by: Closer
        var awaited: Awaited
        var next: Next
        /// Why we close, for the record if the peer does not answer.
        var cause = ""

        /// How the connection ends if the socket is gone now.
        var outcome: Outcome {
            switch awaited {
            case .closeFrame: Outcome(code: 1006, reason: cause, clean: false, peerCode: nil)
            case .end(let outcome): outcome
            }
        }

        mutating func pinged(_ payload: [UInt8]) -> [UInt8]? {
            guard case .closeFrame(var pongs) = awaited else { return nil }
            let answer = pongs.pinged(payload)
            awaited = .closeFrame(pongs)
            return answer
        }

        mutating func pongWritten() -> [UInt8]? {
            guard case .closeFrame(var pongs) = awaited else { return nil }
            let answer = pongs.pongWritten()
            awaited = .closeFrame(pongs)
            return answer
        }
    }

    /// How a connection ended, as the record of it says.
    struct Outcome: Equatable, Sendable {
        var code: UInt16
        var reason: String
        var clean: Bool
        /// That of the peer's close frame.
        var peerCode: UInt16?

        /// No close frame came (RFC 6455 §7.1.5).
        static let abnormal = Outcome(code: 1006, reason: "", clean: false, peerCode: nil)

        /// The peer's close frame came and ours is sent; one without a code counts as 1005 (RFC 6455 §7.1.5).
        static func closeFrame(code: UInt16?, reason: String) -> Outcome {
            Outcome(code: code ?? 1005, reason: reason, clean: true, peerCode: code)
        }
    }

    /// Where a pause leads to when it ends.
    enum Afterwards: Sendable {
        /// There was no wish to connect yet.
        case idle
        case dial
    }

    struct Pause: Sendable {
        let timer: TimerID
        let until: Instant
        /// No dial before, if the upstream asked for that.
        var earliest: Instant?
    }

    struct Absence: Sendable {
        /// No dial before, if the upstream asked for that.
        var earliest: Instant?
    }
}

extension ConnectionMachine {
    /// The name of the state, as the status shows it.
    package enum Standing: String, CaseIterable, Equatable, Sendable {
        case idle, connecting, open, closing, waiting, offline, paused, closed, failed
    }

    package var standing: Standing {
        switch state {
        case .idle: .idle
        case .connecting: .connecting
        case .open: .open
        case .closing: .closing
        case .waiting: .waiting
        case .offline: .offline
        case .paused: .paused
        case .closed, .stopped: .closed
        case .failed: .failed
        }
    }

    /// Messages flow.
    package var isReady: Bool {
        switch state {
        case .open(let session): session.script == nil
        case .idle, .connecting, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped: false
        }
    }

    /// What is sent may be messages, too.
    var carriesMessages: Bool { outlook.carriesMessages }

    /// What the outbox is to do with new messages.
    package var uplink: Outbox.Uplink {
        if settings.receiveOnly { return .receiveOnly }
        return switch state {
        case .open(let session): session.script == nil ? .ready : .away
        case .idle, .connecting, .waiting, .offline, .paused: .away
        case .closing(let farewell): farewell.next == .stayClosed || farewell.next == .stop ? .shut : .away
        case .closed, .failed, .stopped: .shut
        }
    }

    /// From one heartbeat to the next: as the upstream has told, or the settings say.
    package var heartbeatInterval: Duration {
        switch state {
        case .open(let session): session.heartbeat.interval
        case .idle, .connecting, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped:
            settings.heartbeat.interval
        }
    }

    /// What the heartbeats say, while the connection is open.
    package var pulse: Pulse? {
        switch state {
        case .open(let session): session.heartbeat.pulse
        case .idle, .connecting, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped: nil
        }
    }

    /// What the handshake of the open connection agreed on.
    package var agreement: (subprotocol: String?, compression: Bool)? {
        switch state {
        case .open(let session): (session.subprotocol, session.compression)
        case .idle, .connecting, .closing, .waiting, .offline, .paused, .closed, .failed, .stopped: nil
        }
    }

    /// When the next dial is due, while one is scheduled.
    package var nextAttemptAt: Instant? {
        switch state {
        case .waiting(let pause): pause.until
        case .idle, .connecting, .open, .closing, .offline, .paused, .closed, .failed, .stopped: nil
        }
    }
}
