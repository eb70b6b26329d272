import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Client commands` {
    private func endpoint(_ words: String, _ environment: [String: String] = [:]) -> BridgeEndpoint? {
        switch invoke(words, environment) {
        case .success(.health(let endpoint)): endpoint
        case .success(.send(let order)): order.endpoint
        case .success(.tail(let order)): order.endpoint
        default: nil
        }
    }

    @Test(arguments: [
        ("health", [:], "127.0.0.1:8080"), ("health --listen :90", [:], "127.0.0.1:90"),
        ("health", ["WSBRIDGE_LISTEN": "0.0.0.0:90"], "127.0.0.1:90"),
        ("health --listen [::]:90", ["WSBRIDGE_LISTEN": "a:1"], "[::1]:90"),
        ("send --listen unix:/run/b x", [:], "unix:/run/b"),
        ("tail --listen a.example:1", [:], "a.example:1"),
        ("tail --listen 10.0.0.1:1", ["WSBRIDGE_CONFIG": "not read"], "10.0.0.1:1"),
        // What serve would complain about is none of their business.
        ("health", ["WSBRIDGE_DATA_DIR": "/data", "WSBRIDGE_LOG_LEVEL": "loud"], "127.0.0.1:8080"),
    ])
    func `find the bridge`(words: String, environment: [String: String], address: String) {
        #expect(endpoint(words, environment)?.address.text == address)
    }

    @Test(arguments: [
        ("health --listen :0", [:], ExitCode.usage, "--listen: a bridge on port 0 cannot be found"),
        ("health", ["WSBRIDGE_LISTEN": "here"], .configuration, "WSBRIDGE_LISTEN: expected host:port"),
        ("health", ["WSBRIDGE_CONFIG": "gone.yaml"], .unreadableFile, "gone.yaml: cannot be read"),
        ("health -- x", [:], .usage, "unexpected argument"),
        ("send", ["WSBRIDGE_TOKEN": "a b"], .configuration, "WSBRIDGE_TOKEN: expected a token"),
        ("send --since start", [:], .usage, "--since: `wsbridge send` does not take this flag"),
        ("send a b", [:], .usage, "put quotes around it"),
        (
            "send --wait 6m x", [:], .usage,
            "--wait: expected a duration such as 5s or 1m, of at most 5m, not `6m`"
        ),
        ("send --wait soon x", [:], .usage, "--wait: expected a duration"),
        ("tail --wait 1s", [:], .usage, "--wait: `wsbridge tail` does not take this flag"),
        ("tail --types status --format raw", [:], .usage, "raw shows no status"),
        ("tail --connection ..", [:], .usage, "--connection: expected a connection's name"),
        ("check --connection a", [:], .usage, "--connection: `wsbridge check` does not take this flag"),
    ])
    func `say what is wrong`(
        words: String,
        environment: [String: String],
        code: ExitCode,
        complaint: String
    ) {
        let outcome = invoke(words, environment)
        #expect(outcome.error?.exitCode == code)
        #expect(outcome.lines.contains(complaint))
    }

    @Test(arguments: [
        ("send x", "POST /messages", "x"),
        ("send --connection a.b x", "POST /v1/connections/a.b/messages", "x"),
        ("send --wait 5m x", "POST /messages?wait=5m", "x"),
        ("send --wait 1m30s x", "POST /messages?wait=1m30s", "x"), ("send -- -x", "POST /messages", "-x"),
    ])
    func `send a message`(words: String, line: String, text: String) throws {
        let invocation = try invoke(words, ["WSBRIDGE_TOKEN": "t0ken"]).get()
        guard case .send(let order) = invocation else {
            Issue.record("not an order to send")
            return
        }
        #expect(order.text == text)
        let bytes = order.request(Array("é".utf8)).bytes(for: order.endpoint.address)
        let expected =
            "\(line) HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: wsbridge\r\nAuthorization: Bearer t0ken\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\r\né"
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: ["send", "send -"])
    func `send the lines of the input`(words: String) throws {
        guard case .send(let order) = try invoke(words).get() else {
            Issue.record("not an order to send")
            return
        }
        #expect(order.text == nil)
    }

    @Test func `tell a unix socket that it is local`() {
        let text = String(decoding: ClientRequest.health.bytes(for: .unix(path: "/run/b")), as: UTF8.self)
        #expect(text == "GET /healthz HTTP/1.1\r\nHost: localhost\r\nUser-Agent: wsbridge\r\n\r\n")
    }

    @Test(arguments: [
        ("tail", "/events?format=json", "/events?format=json&since=1970-01-01T00%3A00%3A01.000Z"),
        ("tail --since now", "/events?format=json", "/events?format=json&since=1970-01-01T00%3A00%3A01.000Z"),
        (
            "tail --since 500ms", "/events?format=json&since=500ms",
            "/events?format=json&since=1970-01-01T00%3A00%3A00.500Z"
        ),
        (
            "tail --since 2026-11-30T08:00:00Z --format sse", "/events?since=2026-11-30T08%3A00%3A00.000Z",
            "/events?since=2026-11-30T08%3A00%3A00.000Z"
        ),
        (
            "tail --since 2026-11-30T08:00:00+02:00 --format sse",
            "/events?since=2026-11-30T06%3A00%3A00.000Z",
            "/events?since=2026-11-30T06%3A00%3A00.000Z"
        ),
        (
            "tail --since 0123456789ab-7 --format raw", "/events?format=json&since=0123456789ab-7",
            "/events?format=json&since=0123456789ab-7"
        ),
        (
            "tail --connection c --format json --types text,status --since start",
            "/v1/connections/c/events?format=json&types=text%2Cstatus&since=start",
            "/v1/connections/c/events?format=json&types=text%2Cstatus&since=start"
        ),
        (
            "tail --format ndjson --since start", "/events?format=json&since=start",
            "/events?format=json&since=start"
        ),
        (
            "tail --format sse --types status --since start", "/events?types=status&since=start",
            "/events?types=status&since=start"
        ),
    ])
    func `follow a stream from where it stands`(words: String, first: String, second: String) throws {
        guard case .tail(let order) = try invoke(words).get() else {
            Issue.record("not an order to follow")
            return
        }
        var cursor = TailCursor(order.start)
        #expect(order.request(cursor) == ClientRequest("GET", first))
        // Nothing came before the stream broke off, twice: what is meant stays what was meant at the start.
        cursor.opened(at: WallTime(millisecondsSince1970: 1000))
        cursor.opened(at: WallTime(millisecondsSince1970: 9000))
        #expect(order.request(cursor).target == second)
        cursor.lastID = "e-5"
        #expect(order.request(cursor).fields == [HTTPField("Last-Event-ID", "e-5")])
        #expect(!order.request(cursor).target.contains("since"))
    }

    private static func event(_ json: String, type: String = "message") -> EventStreamReader.Event {
        EventStreamReader.Event(type: type, data: Array(json.utf8), id: "e-1")
    }

    private static func text(_ json: String) -> EventStreamReader.Event {
        event(#"{"id":"e-1","type":"text","data":"\#(json)"}"#)
    }

    private static let status = event(#"{"id":"e-1","type":"status","data":{"type":"ready"}}"#)
    private static let gap = event(#"{"id":"e-1","type":"gap","missed":3,"oldest":"e-2"}"#)
    private static let unknownGap = event(#"{"id":"e-1","type":"gap","missed":null,"oldest":null}"#)
    private static let lost = "a gap: 3 records were lost"
    private static let lostUnknown = "a gap: messages were lost, it is not known how many"

    @Test(arguments: [
        (text(#"a\nb"#), TailOrder.Format.raw, "a\nb\n", nil), (text(""), .raw, "\n", nil),
        (text(#"\r\n\r\u0000 \u00e9\ud83d\ude00\"\\\u007f"#), .raw, "\r\n\r\0 é😀\"\\\u{7F}\n", nil),
        (text("\u{FEFF}  x\u{2028}"), .raw, "\u{FEFF}  x\u{2028}\n", nil),
        (event(#"{"type":"binary","data":"AAE="}"#), .raw, "AAE=\n", nil), (gap, .raw, "", lost),
        (event(#"{"type":"gap","missed":1}"#), .raw, "", "a gap: 1 record was lost"),
        (unknownGap, .raw, "", lostUnknown), (status, .raw, "", nil),
        (event("{}"), .raw, "", "an event that is no record was left out"),
        (event("a\nb"), .sse, "id: e-1\ndata: a\ndata: b\n\n", nil),
        (event("AAE=", type: "binary"), .sse, "id: e-1\nevent: binary\ndata: AAE=\n\n", nil),
        (.init(type: "status", data: Array("{}".utf8)), .sse, "event: status\ndata: {}\n\n", nil),
        (
            event(#"{"missed":3}"#, type: "gap"), .sse, "id: e-1\nevent: gap\ndata: {\"missed\":3}\n\n", lost
        ),
        // A text may say anything.
        (
            event(#"{"type":"gap","missed":3}"#), .sse, "id: e-1\ndata: {\"type\":\"gap\",\"missed\":3}\n\n",
            nil
        ),
        (text(#"\r"#), .json, "id: e-1\ndata: {\"id\":\"e-1\",\"type\":\"text\",\"data\":\"\\r\"}\n\n", nil),
        (text(#"\r"#), .ndjson, "{\"id\":\"e-1\",\"type\":\"text\",\"data\":\"\\r\"}\n", nil),
        (
            unknownGap, .json,
            "id: e-1\ndata: {\"id\":\"e-1\",\"type\":\"gap\",\"missed\":null,\"oldest\":null}\n\n",
            lostUnknown
        ),
        (gap, .ndjson, "{\"id\":\"e-1\",\"type\":\"gap\",\"missed\":3,\"oldest\":\"e-2\"}\n", lost),
    ])
    func `print events`(
        event: EventStreamReader.Event,
        format: TailOrder.Format,
        text: String,
        notice: String?
    ) {
        let output = TailOutput(event, as: format)
        #expect(String(decoding: output.bytes, as: UTF8.self) == text)
        #expect(output.notice == notice)
    }

    @Test(arguments: [
        (
            401, #"{"type":"urn:wsbridge:problem:unauthorized","title":"t","detail":"send a token"}"#,
            "send a token (unauthorized, status 401); the token of WSBRIDGE_TOKEN is sent along", false
        ),
        (
            503, #"{"type":"urn:wsbridge:problem:outbox-full","title":"Full"}"#,
            "Full (outbox-full, status 503)",
            true
        ),
        (502, "<html>", "(status 502)", true), (404, "", "(status 404)", false),
        (500, #"{"detail":"a\u001b[2Jb\nc"}"#, "a?[2Jb?c (status 500)", true),
        (429, "{}", "(status 429)", true), (400, "speak HTTPS\nor go", "speak HTTPS (status 400)", false),
    ])
    func `repeat what the bridge said`(status: Int, body: String, text: String, isPassing: Bool) {
        let refusal = Refusal(status: status, body: Array(body.utf8))
        #expect(refusal.text == text)
        #expect(refusal.isPassing == isPassing)
    }
}
