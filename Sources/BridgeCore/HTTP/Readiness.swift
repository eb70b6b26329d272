package import WebSocketProtocol

/// Whether every connection that is to be up is ready: what `GET /readyz` answers.
package struct Readiness: Equatable, Sendable {
    /// One of those connections.
    package struct Row: Equatable, Sendable {
        package var name: String
        package var state: String
        /// Why it is not ready, in words of our own, which are no secret; nil if it is.
        package var reason: String?
    }

    package var isReady: Bool
    package var rows: [Row]

    /// Judges by the connections that are to be up always; a bridge that is stopping is not ready.
    package init(_ statuses: [ConnectionStatus], isStopping: Bool) {
        rows = statuses.map { status in
            let reason = isStopping ? "the bridge is stopping" : Readiness.reason(status)
            return Row(name: status.name, state: status.standing.rawValue, reason: reason)
        }
        isReady = !isStopping && rows.allSatisfy { $0.reason == nil }
    }

    /// The answer, with the rows of the connections that are `shown`, which have no names unless `named`.
    package func response(
        named: Bool,
        fields: [HTTPField],
        shown: (String) -> Bool = { _ in true }
    ) -> HTTPResponse {
        HTTPResponse(status: isReady ? 200 : 503, fields: fields) { json in
            json.member("ready", isReady)
            json.member("connections") { json in
                json.array { json in
                    for row in rows where shown(row.name) {
                        json.element { json in json.object { row.write(to: &$0, named: named) } }
                    }
                }
            }
        }
    }

    private static func reason(_ status: ConnectionStatus) -> String? {
        switch status.standing {
        case .open where status.isReady: nil
        case .open: "open, with steps of onOpen to come" + lastFailure(status)
        case .idle: "not asked to connect yet"
        case .closing: "closing"
        case .offline: "there is no network to the upstream"
        case .paused: "paused"
        case .closed: "closed" + lastClose(status)
        case .failed: "gave up" + lastFailure(status)
        case .connecting: "connecting" + lastFailure(status)
        case .waiting: "waiting to connect again" + lastFailure(status)
        }
    }

    /// What the upstream closed it with; a code that the bridge sent is no news to who had it sent.
    private static func lastClose(_ status: ConnectionStatus) -> String {
        guard case .closed(let code, _, _, .server)? = status.tally.lastClose?.event else { return "" }
        return "; the last close was the upstream's, with \(code)"
    }

    private static func lastFailure(_ status: ConnectionStatus) -> String {
        guard status.attempt > 0 || status.standing == .failed,
            case .failed(let failure)? = status.tally.lastError?.event
        else { return "" }
        return "; the last attempt failed at \(failure.phase.rawValue)"
            + (failure.status.map { " with \($0)" } ?? "")
    }
}

extension Readiness.Row {
    fileprivate func write(to json: inout JSONWriter, named: Bool) {
        if named { json.member("name", name) }
        json.member("state", state)
        json.member("reason", reason)
    }
}
