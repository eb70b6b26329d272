import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Settings of a connection from a client` {
    private func read(_ json: String) throws -> ConnectionConfiguration {
        try ConnectionConfiguration(ofClient: Array(json.utf8), files: .none)
    }

    private func errors(_ json: String) -> [String] {
        errors(Array(json.utf8))
    }

    private func errors(_ body: [UInt8]) -> [String] {
        do throws(Problem) {
            _ = try ConnectionConfiguration(ofClient: body, files: .none)
            return []
        } catch {
            #expect(error.kind == .invalidBody)
            #expect(error.detail == error.errors.joined(separator: "; "))
            return error.errors
        }
    }

    @Test func `are those of the file, as JSON`() throws {
        var expected = ConnectionConfiguration(url: try WebSocketURL("wss://u:p@example.org/feed?q=1"))
        expected.settings.connect = .onDemand
        expected.settings.heartbeat.interval = .milliseconds(1500)
        expected.settings.heartbeat.expect = .equals("\u{1F600}\n\"\\/")
        expected.settings.reconnect.maxRetries = 3
        expected.settings.reconnect.jitter = 0
        expected.settings.rate = RateSettings(messages: 5, per: .seconds(1))
        expected.settings.onOpen = [OpenStep(.send(try MessageTemplate(text: "a")), when: .notCaptured("c"))]
        var rule = Rule(when: .any)
        rule.capture = Capture([("c", try #require(JSONPointer("/c")))])
        expected.settings.rules = [rule]
        expected.settings.request.id = .counter
        expected.upstream.headers = [HTTPField("B", "b"), HTTPField("A", "${a}"), HTTPField("C", "null")]
        expected.upstream.compression = false
        expected.upstream.maxMessageBytes = 1 << 20
        expected.upstream.tls.verifies = false
        expected.upstream.tls.serverName = "example.org"
        let read = try read(
            #"""
            {"url":"wss:\/\/u:p@example.org/feed?q=1", "connect" : "onDemand","heartbeat":{"interval":1.5,
            "expect":{"equals":"\ud83d\ude00\n\"\\\/"}},	"reconnect":{"maxRetries":3,"jitter":0},
            "rate":{"messages":5,"per":"1s"},"headers":{"B":"b","A":"$${a}","C":"null"},"compression":false,
            "maxMessageBytes":"1MiB","tls":{"verify":false,"serverName":"example.org","ca":null},"proxy":null,
            "preset":null,"parameters":{},"onOpen":[{"when":{"notCaptured":"c"},"send":{"text":"a"}}],"outbox":{},
            "rules":[{"when":{"any":true},"capture":{"c":"/c"}}],"request":{"id":"counter"}}
            """#
        )
        #expect(read == expected)
    }

    @Test func `are the defaults where they say nothing`() throws {
        #expect(try read(#"{"url":"ws://h"}"#) == ConnectionConfiguration(url: try WebSocketURL("ws://h")))
    }

    @Test func `are few enough to be looked at in no time`() throws {
        func settings(_ count: Int) -> String {
            #"{"url":["# + Array(repeating: #""ws://h""#, count: count).joined(separator: ",") + "]}"
        }
        // The list and the object count as well.
        #expect(try read(settings(4998)).source.urls.count == 4998)
        #expect(errors(settings(4999)) == ["there are more than 5000 values, aliases written out"])
    }

    @Test func `are told all that is wrong at once, with its place`() {
        let wrong = errors(
            #"""
            {"urll":"ws://a","heartbeat":{"interval":"soon","missLimit":0},"subprotocols":["a","a b"],
             "reconnect":{"stopOnCloseCodes":[1]},"rate":{"messages":1},"headers":{"Host":"a\nb"},
             "outbox":7,"compression":true,"compression":false,"network":null,"rules":[1],
             "onOpen":[{"send":{"text":"a"},"timeout":1},{"whenn":{}}]}
            """#
        )
        #expect(
            wrong == [
                "compression: stands twice; the first is on line 3",
                "headers.Host: expected the value of a header field, without control characters",
                "subprotocols[1]: expected a subprotocol, without spaces and separators, not `a b`",
                "heartbeat.interval: expected a duration such as 250ms, 20s or 1m30s (0, or 10ms to 24h), "
                    + "not `soon`",
                "heartbeat.missLimit: expected a whole number from 1 to 1000, not `0`",
                "reconnect.stopOnCloseCodes[0]: expected a close code from 1000 to 4999, "
                    + "or a range such as 4000-4099, not `1`",
                "network: expected auto or ignore, not null",
                "rate: needs per",
                "outbox: expected a mapping of keys to values, not a single value",
                "onOpen[0].timeout: belongs beside expect, not send",
                "onOpen[1].whenn: unknown key; did you mean when?",
                "onOpen[1]: needs either send or expect",
                "rules[0]: expected a mapping of keys to values, not a single value",
                "urll: unknown key; did you mean url?",
                "needs url",
            ]
        )
    }

    @Test(arguments: [
        (#"{"url":"${HOME}"}"#, "url"), (#"{"url":"ws://h/${file:/etc/passwd}"}"#, "url"),
        (#"{"url":"ws://h","headers":{"A":"${TOKEN:-x}"}}"#, "headers.A"),
        (#"{"url":"ws://h","proxy":"${HTTP_PROXY}"}"#, "proxy"),
        (#"{"url":"ws://h","heartbeat":{"send":{"text":"${HOME}"}}}"#, "heartbeat.send.text"),
        (#"{"url":"ws://h","tls":{"serverName":"${HOME}"}}"#, "tls.serverName"),
    ])
    func `may not refer to variables and files`(json: String, place: String) {
        #expect(
            errors(json) == [
                "\(place): has a ${}, which only the configuration file may; a literal ${ is written $${"
            ]
        )
    }

    @Test(arguments: [
        (#""url":"ws+unix:/run/docker.sock:/""#, "url: names a socket of the bridge's machine"),
        (#""url":"wss+unix:a:/""#, "url: names a socket of the bridge's machine"),
        (#""url":{"command":["id"]}"#, "url: names what is to give the URL"),
        (#""url":"ws://h","preset":"./a""#, "preset: names a file of the bridge's machine"),
        (#""url":"ws://h","preset":"a.yaml""#, "preset: names a file of the bridge's machine"),
        (#""url":{"http":{"url":"http://h"}}"#, "url: names what is to give the URL"),
        (#""url":"ws://h","tls":{"ca":"/etc/passwd"}"#, "tls.ca: names a file of the bridge's machine"),
        (
            #""url":"ws://h","tls":{"certificate":"a"}"#,
            "tls.certificate: names a file of the bridge's machine"
        ),
        (
            #""url":"ws://h","tls":{"certificate":null,"key":""}"#,
            "tls.key: names a file of the bridge's machine"
        ),
    ])
    func `may not name what is on the bridge's machine`(json: String, error: String) {
        #expect(errors("{\(json)}") == [error + ", which only the configuration file may"])
    }

    @Test(
        arguments: [
            "", " ", "{", "{}}", "url: ws://h", "{url: 1}", "{'url':'ws://h'}", "&a {}",
            "{\"url\":\"ws://h\",}", "[1,]", "\u{FEFF}{}", "{\"a\":\"\u{1}\"}", "nil", "{\"a\":01}",
            "// c\n{}",
        ]
    )
    func `must be JSON`(text: String) {
        #expect(errors(text) == ["expected JSON: an object with the settings of a connection"])
    }

    @Test(arguments: ["[]", "7", "\"ws://h\"", "true", "[{\"url\":\"ws://h\"}]"])
    func `must be an object`(text: String) {
        #expect(errors(text).first?.hasPrefix("expected a mapping of keys to values, not a") == true)
        #expect(errors(text).count == 1)
    }

    @Test func `must be UTF-8, and not too deep`() {
        #expect(errors([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]).count == 1)
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(errors(#"{"url":\#(deep)}"#).first?.contains("is nested deeper than 64 levels") == true)
        #expect(errors(String(repeating: "[", count: 1 << 20)).count == 1)
    }

    @Test func `null is an object without a URL`() {
        #expect(errors("null") == ["needs url"])
        #expect(errors("{}") == ["needs url"])
        #expect(errors(#"{"url":7}"#).count == 1)
    }

    @Test func `that are very wrong are told of in a bounded answer`() {
        let many = (0..<1000).map { #""k\#($0)":1"# }.joined(separator: ",")
        let wrong = errors(#"{"url":"ws://h",\#(many)}"#)
        #expect(wrong.count == 51)
        #expect(wrong.last == "950 more")
    }

    @Test func `never have secrets repeated`() {
        let wrong = errors(
            #"{"url":"ws://user:s3cret@","proxy":"s3cret","headers":{"A":"s3cret\n"},"#
                + #""tls":{"keyPassword":"s3cret"}}"#
        )
        #expect(wrong.count == 4)
        #expect(!wrong.joined().contains("s3cret"))
    }
}
