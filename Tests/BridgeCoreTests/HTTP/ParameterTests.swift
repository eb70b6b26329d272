import BridgeCore
import Testing

@Suite struct `Query parameters` {
    private func admit(_ line: String, _ fields: String...) -> Admission {
        gate().admit(request(line, fields: fields), connections: ["default"])
    }

    @Test(arguments: [
        ("GET /healthz?x=1", "x"), ("GET /status?since=start", "since"),
        ("GET /v1/connections?limit=1", "limit"),
        ("GET /v1/connections/default?x", "x"), ("POST /connect?x", "x"),
        ("POST /disconnect?code=1000", "code"),
        ("POST /messages?limit=1", "limit"), ("POST /messages?wait=", "wait"),
        ("POST /messages?wait=soon", "wait"),
        ("POST /messages?wait=301s", "wait"), ("POST /messages?queue=no", "queue"), ("GET /outbox?x", "x"),
        ("DELETE /outbox/e-m1?x", "x"), ("POST /pause?x", "x"), ("GET /readyz?x", "x"),
        ("POST /messages?type=json", "type"),
        ("POST /messages?type=", "type"), ("POST /messages?type=text&type=text", "type"),
        ("POST /messages?Type=text", "Type"), ("POST /messages?%74ype=text&type=binary", "type"),
        ("GET /events?format=json", "format"), ("GET /events?type=text", "type"),
        ("GET /events?types=", "types"),
        ("GET /events?types=text,", "types"), ("GET /events?types=all", "types"),
        ("GET /events?types=text%20", "types"),
        ("GET /events?limit=0", "limit"), ("GET /events?limit=-1", "limit"),
        ("GET /events?limit=%2B1", "limit"),
        ("GET /events?limit=1.0", "limit"), ("GET /events?limit=", "limit"),
        ("GET /events?limit=99999999999999999999", "limit"), ("GET /events?limit=1&limit=1", "limit"),
        ("GET /events?since=", "since"), ("GET /events?since=yesterday", "since"),
        ("GET /events?since=-5s", "since"),
        ("GET /events?since=2026-02-30T00:00:00Z", "since"), ("GET /events?since=10m&since=10m", "since"),
        ("GET /events?access_token=a&access_token=a", "access_token"),
    ])
    func `that are unknown, repeated or malformed are refused by name`(line: String, name: String) {
        let admission = admit(line)
        #expect(admission.summary == "400 invalid-parameter")
        #expect(admission.response?.text.contains("`\(name)`: ") == true)
    }

    private func events(_ line: String, _ fields: String...) -> EventsQuery? {
        guard
            case .events("default", let query) = gate().admit(
                request(line, fields: fields),
                connections: ["default"]
            ).route
        else { return nil }
        return query
    }

    @Test(
        arguments: [
            ("GET /events", RecordTypes.messages), ("GET /events?types=status", .status),
            ("GET /events?types=text,binary,status", [.text, .binary, .status]),
            ("GET /events?types=text%2Cbinary", .messages),
        ] as [(String, RecordTypes)]
    )
    func `select the types of records`(line: String, types: RecordTypes) {
        #expect(events(line)?.types == types)
    }

    @Test(
        arguments: [
            ("GET /events", nil), ("GET /events?limit=1", 1),
            ("GET /events?limit=9223372036854775807", Int.max),
        ] as [(String, Int?)]
    )
    func `limit the records`(line: String, limit: Int?) throws {
        let query = try #require(events(line))
        #expect(query.limit == limit)
    }

    private let now = WallTime(millisecondsSince1970: 1_000_000)

    @Test(arguments: [
        ("", StartPosition.now), ("?since=now", .now), ("?since=start", .start),
        ("?since=10m", .since(WallTime(millisecondsSince1970: 400_000))),
        ("?since=1.5", .since(WallTime(millisecondsSince1970: 998_500))),
        ("?since=1970-01-01T00:00:02Z", .since(WallTime(millisecondsSince1970: 2_000))),
        ("?since=1970-01-01T01:00:02%2B01:00", .since(WallTime(millisecondsSince1970: 2_000))),
    ])
    func `say where a stream begins`(query: String, position: StartPosition) {
        #expect(events("GET /events\(query)")?.position(at: now) == position)
    }

    private static let id = "0123456789ab-7"

    @Test(arguments: ["GET /events", "GET /events?since=start"])
    func `give way to Last-Event-ID`(line: String) throws {
        let id = try #require(EventID(text: Self.id))
        #expect(events(line, "Last-Event-ID: \(Self.id)")?.position(at: now) == .after(id))
        #expect(events("GET /events?since=\(Self.id)")?.position(at: now) == .after(id))
    }

    @Test func `stand when Last-Event-ID is empty`() {
        #expect(events("GET /events?since=start", "Last-Event-ID:")?.position(at: now) == .start)
    }

    @Test(arguments: ["x", "start", "10m", "1-2-3"])
    func `do not save a malformed Last-Event-ID`(id: String) {
        #expect(admit("GET /events", "Last-Event-ID: \(id)").summary == "400 invalid-parameter")
    }
}
