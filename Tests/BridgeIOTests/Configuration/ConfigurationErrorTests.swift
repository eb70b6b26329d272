import BridgeCore
import BridgeIO
import Testing

@Suite struct `Errors of a configuration file` {
    @Test func `are all told at once, in the order of their lines`() {
        let yaml = """
            htp: {}
            http:
              lisen: :8080
              listen: 8080
              tokens:
                - name: ops
                  allow: [reed]
                - token: ${NOPE}
                  name: a b
                - 5
                - name: x
              allowAnonymous: yes
              maxBodyBytes: 0
              maxSubscribers: -1
              keepAlive: [1]
              dynamicConnections: maybe
            memory: { maxBytes: 1KiB }
            storage: { directory: "", direktory: 1 }
            connections:
              "..": { url: ws://a }
              x:
                url: []
                connect: ondemand
                rate: { messages: 0 }
                network: on
                requireSubprotocol: true
                subprotocols: [a, a b]
                tls: { ca: nothere.pem }
                headers: { "Bad Name": x, Host: "a\\nb", Upgrade: q }
                reconnect: { initialDelay: 2m, stopOnCloseCodes: [1000, 4099-4000, 4000-4099] }
                outbox: fish
              y:
              z: { compression: }

            """
        #expect(
            ConfigurationScene().complaints(yaml) == [
                "1: htp: unknown key; did you mean http?",
                "3: http.lisen: unknown key; did you mean listen?",
                "4: http.listen: expected host:port, [v6]:port, :port or unix:PATH, not `8080`",
                "6: http.tokens[0]: needs token",
                "7: http.tokens[0].allow[0]: expected read, send or admin, not `reed`",
                "8: http.tokens[1].token: the environment variable NOPE is not set",
                "9: http.tokens[1].name: expected a name of 1 to 64 letters, digits, `.`, `_` and `-`, not `a b`",
                "10: http.tokens[2]: expected a mapping of keys to values, not a single value",
                "11: http.tokens[3]: needs token",
                "12: http.allowAnonymous: expected true or false, not `yes`",
                "13: http.maxBodyBytes: expected a size such as 64KiB or 16MiB (1 to 1GiB), not `0`",
                "14: http.maxSubscribers: expected a whole number from 0 to 1000000, not `-1`",
                "15: http.keepAlive: expected a duration such as 250ms, 20s or 1m30s (100ms to 24h), not a list",
                "16: http.dynamicConnections: expected true or false, not `maybe`",
                "17: memory.maxBytes: expected a size such as 64KiB or 16MiB (1MiB to 1024GiB), not `1KiB`",
                "18: storage.directory: expected the path of a folder, not ``",
                "18: storage.direktory: unknown key; did you mean directory?",
                "20: connections...: a name has 1 to 64 letters, digits, `.`, `_` and `-`, and is neither `.` nor `..`",
                "22: connections.x.url: the list is empty; name at least one URL",
                "23: connections.x.connect: expected always, onDemand or manual, not `ondemand`",
                "24: connections.x.rate.messages: expected a whole number from 1 to 100000, not `0`",
                "24: connections.x.rate: needs per",
                "25: connections.x.network: expected auto or ignore, not `on`",
                "27: connections.x.subprotocols[1]: expected a subprotocol, without spaces and separators, not `a b`",
                "28: connections.x.tls.ca: conf/nothere.pem cannot be read: no such file or directory",
                "29: connections.x.headers.Bad Name: the name of a header field is not valid in HTTP",
                "29: connections.x.headers.Host: expected the value of a header field, without control characters",
                "29: connections.x.headers.Upgrade: "
                    + "the header field Upgrade belongs to the handshake and cannot be set",
                "30: connections.x.reconnect.stopOnCloseCodes[1]: "
                    + "expected a close code from 1000 to 4999, or a range such as 4000-4099, not `4099-4000`",
                "30: connections.x.reconnect.initialDelay: initialDelay (2m) is longer than maxDelay (1m)",
                "31: connections.x.outbox: expected a mapping of keys to values, not a single value",
                "32: connections.y: needs url",
                "33: connections.z.compression: expected true or false, not null",
                "33: connections.z: needs url",
            ]
        )
    }

    @Test(arguments: [
        ("- a", ["1: expected a mapping of keys to values, not a list"]),
        ("a", ["1: expected a mapping of keys to values, not a single value"]),
        ("connections: []", ["1: connections: expected a mapping of keys to values, not a list"]),
        ("connections: { a: [] }", ["1: connections.a: expected a mapping of keys to values, not a list"]),
        (
            "connections: { a: { url: } }",
            ["1: connections.a.url: expected a URL such as wss://example.org/feed, not null"]
        ),
        (
            "connections: { a: { url: '' } }",
            [
                "1: connections.a.url: expected a URL such as wss://example.org/feed, but this one is empty"
            ]
        ),
        ("connections: { a: { } }", ["1: connections.a: needs url"]),
        (
            "connections: { '': { url: ws://a } }",
            [
                "1: connections.: a name has 1 to 64 letters, digits, `.`, `_` and `-`, and is neither `.` nor `..`"
            ]
        ),
        (
            ConfigurationScene.connection("network: watch"),
            [
                "1: connections.default.network: expected auto or ignore, not `watch`"
            ]
        ),
        (
            ConfigurationScene.connection("rules: [{when: {any: true}}]"),
            [
                "1: connections.default.rules[0]: does nothing; all that match are forwarded anyway"
            ]
        ),
        (
            ConfigurationScene.connection("requireSubprotocol: true"),
            [
                "1: connections.default.requireSubprotocol: needs subprotocols to choose from"
            ]
        ),
        (
            ConfigurationScene.connection("subprotocols: [a, a]"),
            [
                "1: connections.default.subprotocols[1]: stands twice; the first is on line 1"
            ]
        ),
        (
            ConfigurationScene.connection("reconnect: { maxDelay: 100ms }"),
            [
                "1: connections.default.reconnect.maxDelay: initialDelay (500ms) is longer than maxDelay (100ms)"
            ]
        ),
        (
            ConfigurationScene.connection("heartbeat: { closeCode: 1006 }"),
            [
                "1: connections.default.heartbeat.closeCode: "
                    + "expected a close code that may be sent: 1000-1003, 1007-1014 or 3000-4999, not `1006`"
            ]
        ),
        (
            ConfigurationScene.connection("zzzzzzzzzzzzzz: 1").replacing(
                "url: wss://example.org/feed",
                with: "url: ws://u:p@h/#f"
            ),
            [
                "1: connections.default.url: expected a URL such as wss://example.org/feed, but this one has a fragment "
                    + "(#…), which a WebSocket URL cannot have; percent-encode a # as %23",
                "1: connections.default.zzzzzzzzzzzzzz: unknown key; there are: preset, parameters, url, resumeUrl, "
                    + "connect, idleTimeout, headers, subprotocols, requireSubprotocol, connectTimeout, closeTimeout, "
                    + "compression, maxMessageBytes, tls, proxy, heartbeat, reconnect, network, receiveOnly, rate, "
                    + "outbox, onOpen, rules, request",
            ]
        ),
        (
            "{ http: { tokens: [{name: a, token: x}, {name: a, token: y}] }, connections: { a: { url: ws://a } } }",
            ["1: http.tokens[1]: the name `a` stands twice; the first is on line 1"]
        ),
        (
            "{ http: { tokens: [{name: a, token: x}, {name: b, token: x}] }, connections: { a: { url: ws://a } } }",
            ["1: http.tokens[1]: the same token stands twice; the first is on line 1"]
        ),
        (
            "{ http: { tokens: [{name: a, token: x, allow: []}] }, connections: { a: { url: ws://a } } }",
            [
                "1: http.tokens[0].allow: a token that allows nothing is of no use"
            ]
        ),
        (
            "{ http: { tokens: [{name: a, token: \"s3 cret\"}] }, connections: { a: { url: ws://a } } }",
            [
                "1: http.tokens[0].token: expected a token of visible ASCII characters, without spaces or line ends"
            ]
        ),
        (
            "{ http: { tokens: [{name: a, token: x, connections: [\"a b\"]}] }, connections: { a: { url: ws://a } } }",
            [
                "1: http.tokens[0].connections[0]: "
                    + "expected the name of a connection, or a pattern such as `*` or `feed-*`, not `a b`"
            ]
        ),
    ])
    func `say what is wrong and where`(yaml: String, lines: [String]) {
        #expect(ConfigurationScene().complaints(yaml) == lines)
    }

    @Test func `keep secrets to themselves`() {
        let scene = ConfigurationScene(environment: ["S": "s3cret"])
        let yaml = """
            http: { tokens: [{ name: "${S}!", token: "s3cret é" }], keepAlive: "${S}" }
            connections:
              a: { url: "wss://s3cret:s3cret@h/s3cret#", connect: "${S}", headers: { A: "s3cret\\n" } }
            """
        let lines = scene.complaints(yaml)
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { !$0.contains("s3cret") })
    }

    @Test func `are a wrong configuration, and no upstream is one`() {
        for yaml in ["a: 1", "a: [", "", "http: {}", "connections: {}"] {
            guard case .failure(let error) = ConfigurationScene().run(yaml) else {
                Issue.record("taken: \(yaml)")
                continue
            }
            #expect(error.exitCode == .configuration)
        }
        #expect(
            ConfigurationScene().complaints("http: {}").first?.contains("name one under `connections`")
                == true
        )
    }

    @Test func `name the line that opens the bridge to everyone`() {
        let yaml = "http:\n  listen: :80\n\(ConfigurationScene.connection(""))"
        let lines = ConfigurationScene().complaints(yaml)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("2: http.listen: :80 can be reached from other machines") == true)
        #expect(ConfigurationScene(environment: ["WSBRIDGE_TOKEN": "t"]).complaints(yaml) == [])
        let allowed = "http: { listen: ':80', allowAnonymous: true }\n\(ConfigurationScene.connection(""))"
        #expect(ConfigurationScene().complaints(allowed) == [])
    }

    @Test func `tell a file that cannot be read from one that is wrong`() {
        let yaml = ConfigurationScene.connection("tls: { ca: ca.pem }")
        guard case .failure(let error) = ConfigurationScene().run(yaml) else {
            Issue.record("taken")
            return
        }
        #expect(error.exitCode == .unreadableFile)
        #expect(ConfigurationScene(files: ["conf/ca.pem": ""]).complaints(yaml) == [])
    }
}
