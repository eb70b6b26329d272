import BridgeCore
import Testing

/// Level, message and fields of an event's record, without the time.
private func logged(_ event: Lifecycle) -> String {
    let record = LogRecord(event, of: "default", url: "ws://example.org/feed")
    #expect(record.message.description == event.name)
    let line = LogFormat.text.line(record, at: WallTime(millisecondsSince1970: 0))
    return String(decoding: line.dropFirst(25).dropLast(), as: UTF8.self)
}

@Suite struct `An event in a connection's life` {
    @Test(
        arguments: [
            (.connecting, "INFO  connecting connection=default url=ws://example.org/feed"),
            (
                .open(subprotocol: nil, reconnected: false),
                "INFO  open connection=default reconnected=false"
            ),
            (
                .open(subprotocol: "graphql-ws", reconnected: true),
                "INFO  open connection=default subprotocol=graphql-ws reconnected=true"
            ),
            (.ready, "DEBUG ready connection=default"),
            (
                .failed(DialFailure(phase: .tcp, error: "connection refused")),
                #"WARN  failed connection=default phase=tcp error="connection refused""#
            ),
            (
                .failed(DialFailure(phase: .handshake, status: 503, error: "unavailable")),
                "WARN  failed connection=default phase=handshake status=503 error=unavailable"
            ),
            (.heartbeatMissed(misses: 2), "WARN  heartbeat-missed connection=default misses=2"),
            (.heartbeatLost, "WARN  heartbeat-lost connection=default"),
            (
                .reconnecting(attempt: 3, delay: .microseconds(1_234_567)),
                "INFO  reconnecting connection=default attempt=3 delayMs=1234"
            ),
            (.gaveUp(attempts: 5), "ERROR gave-up connection=default attempts=5"),
            (.networkLost, "WARN  network-lost connection=default"),
            (.networkRestored, "INFO  network-restored connection=default"),
            (.messageExpired(id: "m1"), "WARN  message-expired connection=default id=m1"),
            (.messageDropped(id: "m2"), "WARN  message-dropped connection=default id=m2"),
        ] as [(Lifecycle, String)]
    )
    func `is logged under its name`(event: Lifecycle, expected: String) {
        #expect(logged(event) == expected)
    }

    @Test(
        arguments: [
            (1000, true, .server, "INFO "), (1001, true, .bridge, "INFO "), (1005, true, .server, "INFO "),
            (1006, false, .server, "WARN "), (1011, true, .server, "WARN "), (1002, true, .bridge, "WARN "),
            (1001, false, .bridge, "WARN "), (1006, false, .user, "INFO "), (4000, true, .user, "INFO "),
        ] as [(UInt16, Bool, Closer, String)]
    )
    func `is a warning when a connection ends as nobody wished`(
        code: UInt16,
        clean: Bool,
        closer: Closer,
        level: String
    ) {
        let line = logged(.closed(code: code, reason: "", clean: clean, by: closer))
        #expect(
            line == "\(level) closed connection=default code=\(code) clean=\(clean) by=\(closer.rawValue)"
        )
    }

    @Test func `cannot forge a line or a field with a close reason`() {
        let line = logged(.closed(code: 4000, reason: "a\n by=user \"", clean: true, by: .server))
        #expect(
            line == #"WARN  closed connection=default code=4000 reason="a\n by=user \"" clean=true by=server"#
        )
    }
}
