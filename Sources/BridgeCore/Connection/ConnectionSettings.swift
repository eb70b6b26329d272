/// How one connection is kept: what the configuration says under `connections.NAME`, with its defaults.
package struct ConnectionSettings: Equatable, Sendable {
    /// When the first dial happens.
    package enum Start: String, CaseIterable, Sendable {
        /// As soon as the process is up.
        case always
        /// When a message or a reader asks for it, for as long as any does.
        case onDemand
        /// At the first connect request.
        case manual
    }

    /// Whether the network is watched for a way to the upstream.
    package enum NetworkWatch: String, CaseIterable, Sendable {
        /// Nothing is dialled by itself while there is none.
        case auto
        case ignore
    }

    package var connect = Start.always
    /// How long a connection that is kept on demand stays up when nothing asks for it.
    package var idleTimeout = Duration.seconds(60)
    /// For everything from the name lookup to the end of the handshake, but not for asking for the URL.
    package var connectTimeout = Duration.seconds(10)
    /// For the peer's answer to our close frame, or for its end of stream after its own.
    package var closeTimeout = Duration.seconds(5)
    package var heartbeat = HeartbeatSettings()
    package var reconnect = ReconnectSettings()
    package var network = NetworkWatch.auto
    package var outbox = OutboxSettings()
    /// No message is ever sent, only control frames.
    package var receiveOnly = false
    /// What bounds the frames that are sent, pongs and close frames aside; nil: nothing does.
    package var rate: RateSettings?
    /// Where a session goes on, while all its variables are captured; nil: every attempt begins anew.
    package var resumeURL: ResumeURL?
    /// What is said after each open, before the connection is ready.
    package var onOpen: [OpenStep] = []
    /// For messages that are received; all that match apply, in order.
    package var rules: [Rule] = []
    package var request = RequestSettings()

    package init() {}
}

extension ConnectionSettings {
    /// All that is made of templates.
    var templates: [Template] {
        heartbeat.templates.map(\.template) + rules.compactMap { $0.reply?.template }
            + onOpen.compactMap { if case .send(let message) = $0.deed { message.template } else { nil } }
    }

    /// The variables that something captures.
    package var captured: Set<String> {
        var names: Set<String> = []
        for rule in rules { names.formUnion(rule.capture?.names ?? []) }
        for case .expect(let expectation) in onOpen.map(\.deed) {
            names.formUnion(expectation.capture?.names ?? [])
        }
        return names
    }
}

/// When, and how often, a connection that failed or was lost is dialled again.
package struct ReconnectSettings: Equatable, Sendable {
    package var enabled = true
    package var initialDelay = Duration.milliseconds(500)
    /// Each delay is this many times the one before; 1: a fixed interval.
    package var factor = 2.0
    package var maxDelay = Duration.seconds(60)
    /// Each delay, after the cap, is scaled by a random factor in `1 - jitter ... 1`.
    package var jitter = 0.25
    /// Retries before the connection gives up; nil: never.
    package var maxRetries: Int?
    /// A connection that was ready for this long resets the counter and the delay.
    package var resetAfter = Duration.seconds(10)
    /// Close codes after which the connection stays closed.
    package var stopOnCloseCodes: [ClosedRange<UInt16>] = []
    /// Close codes after which a session cannot be resumed: the variables of `resumeUrl` are forgotten.
    package var forgetOnCloseCodes: [ClosedRange<UInt16>] = []
    /// Handshake statuses after which the connection has failed for good.
    package var stopOnStatus: [Int] = []

    package init() {}
}
