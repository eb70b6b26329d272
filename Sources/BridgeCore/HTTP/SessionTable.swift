/// The sessions of browsers that have shown a token once, and need not show it again.
///
/// They are in memory alone and end with the process. A session has its token by value: what that token allows now
/// is what the session allows, and when it is gone so is the session. A value without a clock: whoever has it takes
/// out what has expired.
package struct SessionTable: Sendable {
    /// A session as its owner and its browser may know it.
    package struct Session: Sendable {
        package let key: SessionKey
        /// When it is over at the latest, to be shown.
        package let end: WallTime
        let due: Instant
        let proof: Secret
        let token: Secret
    }

    /// The sessions that a token may have; the oldest one makes room, so that nobody ends those of other tokens.
    package static let mostPerToken = 256

    private var sessions: [SessionKey: Session] = [:]
    /// Those of each token, the oldest first.
    private var order: [Secret: [SessionKey]] = [:]

    package init() {}

    package var count: Int { sessions.count }

    /// When the next one is over; nil: there is none.
    package var nextDue: Instant? { sessions.values.lazy.map(\.due).min() }

    /// Begins one for whoever has shown `token`.
    ///
    /// - Returns: what its cookie has, and the session that had to make room.
    package mutating func begin(
        for token: AccessToken,
        lasting lifetime: Duration,
        now: Instant,
        at time: WallTime,
        random: inout some RandomNumberGenerator
    ) -> (session: Session, cookie: String, ended: SessionKey?) {
        let ended = order[token.secret].flatMap { $0.count < SessionTable.mostPerToken ? nil : $0.first }
        if let ended { end(ended) }
        var ticket = SessionTicket(random: &random)
        while sessions[ticket.key] != nil { ticket = SessionTicket(random: &random) }
        let session = Session(
            key: ticket.key,
            end: time + lifetime,
            due: now + lifetime,
            proof: ticket.proof,
            token: token.secret
        )
        sessions[session.key] = session
        order[token.secret, default: []].append(session.key)
        return (session, ticket.revealed, ended)
    }

    /// The session of this name; nil: it is over.
    package subscript(key: SessionKey) -> Session? { sessions[key] }

    /// The session that one of the cookies belongs to; nil: none does, or it is over.
    package func session(of cookies: [String]) -> Session? {
        cookies.prefix(SessionTable.mostCookies).lazy.compactMap(session).first
    }

    /// A browser has one; who sends more is not worth the work.
    private static let mostCookies = 16

    private func session(_ cookie: String) -> Session? {
        guard let ticket = SessionTicket(cookie), let session = sessions[ticket.key] else { return nil }
        return session.proof == ticket.proof ? session : nil
    }

    // MARK: Ends

    /// Ends one; idempotent.
    package mutating func end(_ key: SessionKey) {
        guard let session = sessions.removeValue(forKey: key) else { return }
        order[session.token]?.removeAll { $0 == key }
        if order[session.token]?.isEmpty == true { order[session.token] = nil }
    }

    /// Ends those whose time is over; returns whether there were any.
    package mutating func expire(at now: Instant) -> Bool {
        end { $0.due <= now }
    }

    /// Ends those whose tokens are not among these; returns whether there were any.
    package mutating func keep(of tokens: [AccessToken]) -> Bool {
        let known = Set(tokens.map(\.secret))
        return end { !known.contains($0.token) }
    }

    private mutating func end(where isOver: (Session) -> Bool) -> Bool {
        let over = sessions.values.filter(isOver)
        for session in over { end(session.key) }
        return !over.isEmpty
    }
}
