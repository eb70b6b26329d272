/// All that a connection knows of itself, at one moment: what `GET .../status` shows.
package struct ConnectionStatus: Equatable, Sendable {
    /// What the bridge knows of the way to the upstream.
    package enum Network: String, Equatable, Sendable {
        case reachable, unreachable, ignored
    }

    package struct Heartbeats: Equatable, Sendable {
        package var interval: Duration
        package var missLimit: Int
        package var misses: Int
        package var lastAnswerAt: WallTime?
        package var roundTrip: Duration?
        /// Over all sockets.
        package var sent: Int
    }

    /// How the upstream is spoken to over TLS.
    package struct Security: Equatable, Sendable {
        /// The upstream has to show a certificate of its name that is trusted.
        package var verified: Bool
        /// Such as `TLSv1.3`; nil while it is not agreed on.
        package var version: String?

        package init(verified: Bool, version: String?) {
            self.verified = verified
            self.version = version
        }
    }

    package var name: String
    /// That of the last attempt, or of the next one before there was any; fit to be shown: without userinfo and query.
    ///
    /// Nil before a provider was asked.
    package var url: String?
    package var standing: ConnectionMachine.Standing
    package var attempt: Int
    package var nextAttemptAt: WallTime?
    package var subprotocol: String?
    package var compression: Bool
    /// Nil: without TLS.
    package var tls: Security?
    package var network: Network
    package var heartbeats: Heartbeats
    package var outbox: Outbox.Load
    package var tally: ConnectionTally

    package var isReady: Bool

    /// Takes the parts together; `wall` and `now` are the same moment on the two clocks.
    package init(
        name: String,
        url: String?,
        machine: ConnectionMachine,
        tls: Security? = nil,
        outbox: Outbox,
        tally: ConnectionTally,
        now: Instant,
        wall: WallTime
    ) {
        let pulse = machine.pulse
        self.name = name
        self.url = url
        standing = machine.standing
        isReady = machine.isReady
        attempt = machine.attempt
        // With `map` in its place the optimizer of Swift 6.3.1 crashes.
        if let next = machine.nextAttemptAt { nextAttemptAt = wall - (now - next) }
        subprotocol = machine.agreement?.subprotocol
        compression = machine.agreement?.compression ?? false
        self.tls = tls
        network = machine.network
        heartbeats = Heartbeats(
            interval: machine.heartbeatInterval,
            missLimit: machine.settings.heartbeat.missLimit,
            misses: pulse?.misses ?? 0,
            lastAnswerAt: pulse?.lastAnswer.map { wall - (now - $0) },
            roundTrip: pulse?.roundTrip,
            sent: machine.heartbeatsSent
        )
        self.outbox = outbox.load(now: now)
        self.tally = tally
    }
}

extension ConnectionStatus {
    /// Writes the members of the status object, with what the connection itself does not know.
    ///
    /// `history` writes the members of that object; `gaps` counts those that subscribers were told of.
    package func writeMembers(
        to json: inout JSONWriter,
        subscribers: Int,
        gaps: Int,
        history: (inout JSONWriter) -> Void
    ) {
        json.member("name", name)
        json.member("url", url)
        json.member("state", standing.rawValue)
        json.member("ready", isReady)
        json.member("since", tally.since.text)
        json.member("attempt", attempt)
        json.member("nextAttemptAt", nextAttemptAt?.text)
        json.member("subprotocol", subprotocol)
        json.member("compression", compression)
        write(tls, to: &json)
        json.member("network", network.rawValue)
        json.member("heartbeat") { json in json.object { write(heartbeats, to: &$0) } }
        json.member("outbox") { json in json.object { write(outbox, to: &$0) } }
        json.member("history") { json in json.object(history) }
        json.member("subscribers", subscribers)
        json.member("counters") { json in json.object { writeCounters(to: &$0, gaps: gaps) } }
        write("lastClose", tally.lastClose, to: &json)
        write("lastError", tally.lastError, to: &json)
    }

    private func write(_ tls: Security?, to json: inout JSONWriter) {
        guard let tls else { return json.member("tls", null: ()) }
        json.member("tls") { json in
            json.object { json in
                json.member("verified", tls.verified)
                json.member("version", tls.version)
            }
        }
    }

    private func write(_ heartbeats: Heartbeats, to json: inout JSONWriter) {
        json.member("intervalMs", heartbeats.interval.milliseconds)
        json.member("missLimit", heartbeats.missLimit)
        json.member("misses", heartbeats.misses)
        json.member("lastAnswerAt", heartbeats.lastAnswerAt?.text)
        json.member("rttMs", milliseconds: heartbeats.roundTrip)
    }

    private func write(_ load: Outbox.Load, to json: inout JSONWriter) {
        json.member("messages", load.messages)
        json.member("bytes", load.bytes)
        json.member("maxMessages", load.maxMessages)
        json.member("oldestAgeMs", ifPresent: load.oldestAge?.milliseconds)
    }

    private func writeCounters(to json: inout JSONWriter, gaps: Int) {
        json.member("received", tally.received)
        json.member("receivedBytes", tally.receivedBytes)
        json.member("sent", tally.sent)
        json.member("sentBytes", tally.sentBytes)
        json.member("opens", tally.opens)
        json.member("closes", tally.closes)
        json.member("failures", tally.failures)
        json.member("heartbeatsSent", heartbeats.sent)
        json.member("heartbeatsMissed", tally.heartbeatsMissed)
        json.member("expired", tally.expired)
        json.member("dropped", tally.dropped)
        json.member("gaps", gaps)
    }

    private func write(_ name: StaticString, _ dated: ConnectionTally.Dated?, to json: inout JSONWriter) {
        guard let dated else { return json.member(name, null: ()) }
        json.member(name) { json in
            json.object { json in
                dated.event.writeMembers(to: &json)
                json.member("at", dated.at.text)
            }
        }
    }
}
