internal import WebSocketProtocol

extension LogRecord {
    /// How an event in the life of a connection is logged: under its name, with its members.
    ///
    /// `url` is the upstream's as it may be shown (`WebSocketURL.redacted`), nil when it is still to be found out. A close
    /// reason is the peer's text.
    package init(_ event: Lifecycle, of connection: String, url: String?) {
        self =
            switch event {
            case .connecting: LogRecord.connecting(to: url)
            case .open(let subprotocol, let reconnected):
                LogRecord.open(subprotocol: subprotocol, reconnected: reconnected)
            case .ready: LogRecord(.debug, "ready")
            case .closed(let code, let reason, let clean, let closer):
                LogRecord.closed(code: code, reason: reason, clean: clean, by: closer)
            case .failed(let failure): LogRecord.failed(failure)
            case .heartbeatMissed(let misses):
                LogRecord(.warning, "heartbeat-missed", ["misses": .integer(misses)])
            case .heartbeatLost: LogRecord(.warning, "heartbeat-lost")
            case .reconnecting(let attempt, let delay):
                LogRecord(
                    .info,
                    "reconnecting",
                    ["attempt": .integer(attempt), "delayMs": .integer(Int(clamping: delay.milliseconds))]
                )
            case .gaveUp(let attempts): LogRecord(.error, "gave-up", ["attempts": .integer(attempts)])
            case .networkLost: LogRecord(.warning, "network-lost")
            case .networkRestored: LogRecord(.info, "network-restored")
            case .paused: LogRecord(.info, "paused")
            case .resumed: LogRecord(.info, "resumed")
            case .rotated: LogRecord(.info, "rotated")
            case .messageExpired(let id): LogRecord(.warning, "message-expired", ["id": .text(id)])
            case .messageDropped(let id): LogRecord(.warning, "message-dropped", ["id": .text(id)])
            }
        fields.prepend("connection", .text(connection))
    }

    private static func connecting(to url: String?) -> LogRecord {
        var fields: LogFields = [:]
        fields.append("url", ifPresent: url.map(LogValue.text))
        return LogRecord(.info, "connecting", fields)
    }

    private static func open(subprotocol: String?, reconnected: Bool) -> LogRecord {
        var fields: LogFields = [:]
        fields.append("subprotocol", ifPresent: subprotocol.map(LogValue.text))
        fields.append("reconnected", .flag(reconnected))
        return LogRecord(.info, "open", fields)
    }

    private static func closed(code: UInt16, reason: String, clean: Bool, by closer: Closer) -> LogRecord {
        var fields: LogFields = ["code": .integer(Int(code))]
        fields.append("reason", ifPresent: reason.isEmpty ? nil : .text(reason))
        fields.append("clean", .flag(clean))
        fields.append("by", .text(closer.rawValue))
        let isOrdinary =
            switch code {
            case CloseCode.normal, CloseCode.goingAway, CloseCode.absent: clean
            default: false
            }
        return LogRecord(closer == .user || isOrdinary ? .info : .warning, "closed", fields)
    }

    private static func failed(_ failure: DialFailure) -> LogRecord {
        var fields: LogFields = ["phase": .text(failure.phase.rawValue)]
        fields.append("status", ifPresent: failure.status.map { .integer($0) })
        fields.append("error", .text(failure.error))
        return LogRecord(.warning, "failed", fields)
    }
}

extension LogRecord {
    /// How a remark on a connection is logged.
    package init(_ remark: SocketRemark, of connection: String) {
        self =
            switch remark {
            case .refusalText(let text):
                LogRecord(.debug, "what the upstream answered to the handshake", ["body": .text(text)])
            case .staleTLSFiles(let error):
                LogRecord(
                    .warning,
                    "changed files of TLS cannot be used, and what they held before still is",
                    ["error": .text(error)]
                )
            case .question(let text): LogRecord(.debug, "url", ["detail": .text(text)])
            case .shortcoming(let text): LogRecord(.warning, "messages", ["detail": .text(text)])
            case .final(let text): LogRecord(.error, "not dialled again", ["detail": .text(text)])
            case .providerText(let text):
                LogRecord(.debug, "what the URL's provider answered", ["body": .text(text)])
            }
        fields.prepend("connection", .text(connection))
    }
}
