internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// Sessions: browsers show a token once, and then a cookie.
extension Bridge {
    func session(_ request: AdmittedRequest) -> HTTPResponse {
        var own: SessionTable.Session?
        if case .session(let key, _) = request.caller { own = sessions[key] }
        return HTTPResponse(session: own, of: request.caller).adding(request.fields)
    }

    /// Where no tokens are configured nobody needs a session, and nobody gets one.
    func beginSession(_ request: AdmittedRequest) throws(Problem) -> HTTPResponse {
        guard shutdown == nil else { throw .bridgeStopping }
        guard let token = request.caller.token, let cookie = request.cookie else { return session(request) }
        let lifetime = configuration.http.sessionLifetime
        var random = SystemRandomNumberGenerator()
        let begun = sessions.begin(
            for: token,
            lasting: lifetime,
            now: loop.now,
            at: loop.wallTime,
            random: &random
        )
        if begun.ended != nil { takeBackRights() }
        watchSessions()
        log.info("a session began", ["token": .text(token.name), "sessions": .integer(sessions.count)])
        return HTTPResponse(session: begun.session, of: request.caller)
            .adding(request.fields + [cookie.setting(begun.cookie, for: lifetime)])
    }

    /// Also where there is none any more, so that the browser forgets its cookie in any case.
    func endSession(_ request: AdmittedRequest, from head: RequestHead) -> HTTPResponse {
        guard let cookie = request.cookie else { return HTTPResponse(.internalError) }
        if let own = sessions.session(of: cookie.values(in: head)) {
            sessions.end(own.key)
            takeBackRights()
            log.info("a session ended", ["sessions": .integer(sessions.count)])
        }
        return HTTPResponse(status: 204, fields: request.fields + [cookie.removal])
    }

    /// Ends what goes on in the name of tokens and sessions that are not there any more, or not as they were.
    func takeBackRights() {
        _ = sessions.keep(of: configuration.http.tokens)
        forgetAdmissions()
        watchSessions()
        hasStaleRights = true
    }

    /// Ends their streams and polls; not from within the daemon, which has hold of some of them.
    func endStaleStreams() {
        guard hasStaleRights else { return }
        hasStaleRights = false
        hub.endStreams { [gate, sessions] in !gate.stillKnows($0, sessions: sessions) }
    }

    private func watchSessions() {
        sessionTimer = sessions.nextDue.map { due in
            loop.startTimer(after: max(.zero, due - loop.now)) { [unowned self] in
                sessionTimer = nil
                if sessions.expire(at: loop.now) { takeBackRights() } else { watchSessions() }
            }
        }
    }
}
