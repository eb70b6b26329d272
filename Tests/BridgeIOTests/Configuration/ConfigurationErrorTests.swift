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
              dynamicConnections: true
            memory: { maxBytes: null }
            storage: { directory: ./d, direktory: 1 }
            connections:
              "..": { url: ws://a }
              x:
                url: [ws://a]
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
        let refused = "is not available in this version"
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
                "16: http.dynamicConnections: \(refused); it can only be false",
                "17: memory.maxBytes: \(refused)",
                "18: storage.directory: \(refused); it can only be null",
                "18: storage.direktory: unknown key; did you mean directory?",
                "20: connections...: a name has 1 to 64 letters, digits, `.`, `_` and `-`, and is neither `.` nor `..`",
                "22: connections.x.url: anything but one URL is not available in this version",
                "23: connections.x.connect: expected always, onDemand or manual, not `ondemand`",
                "24: connections.x.rate.messages: expected a whole number from 1 to 100000, not `0`",
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
            ConfigurationScene.connection("network: auto"),
            [
                "1: connections.default.network: is not available in this version; it can only be ignore"
            ]
        ),
        (
            ConfigurationScene.connection("rules: [{when: {any: true}}]"),
            [
                "1: connections.default.rules: is not available in this version; it can only be []"
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
            "http: { tokens: [{name: a, token: x}, {name: a, token: y}] }",
            ["1: http.tokens[1]: the name `a` stands twice; the first is on line 1"]
        ),
        (
            "http: { tokens: [{name: a, token: x}, {name: b, token: x}] }",
            ["1: http.tokens[1]: the same token stands twice; the first is on line 1"]
        ),
        (
            "http: { tokens: [{name: a, token: x, allow: []}] }",
            [
                "1: http.tokens[0].allow: a token that allows nothing is of no use"
            ]
        ),
        (
            "http: { tokens: [{name: a, token: \"s3 cret\"}] }",
            [
                "1: http.tokens[0].token: expected a token of visible ASCII characters, without spaces or line ends"
            ]
        ),
        (
            "http: { tokens: [{name: a, token: x, connections: [\"a b\"]}] }",
            [
                "1: http.tokens[0].connections[0]: "
                    + "expected the name of a connection, or a pattern such as `*` or `feed-*`, not `a b`"
            ]
        ),
    ])
    func `say what is wrong and where`(yaml: String, lines: [String]) {
        #expect(ConfigurationScene().complaints(yaml) == lines)
    }

    /// What a fault of form, a missing part or a twin must not hide, nor be hidden by.
    @Test func `are all told, whatever is wrong beside them`() {
        let yaml = """
            connections:
              a: { url: ws://x, bad: 1, compression: maybe }
              a: { url: ws://y, bed: 1 }
              b: &b
                url: ws://x
                bad: 1
              c: { <<: [*b, 5], outbox: { maxMessages: 0 } }
              d: { <<: 5 }
              e: *gone
              f: !foo { url: ws://x, maxMessageBytes: !!int 0 }
              g: { ? [ { k: 1, k: 2 } ] : { l: 1, l: 2 }, url: ws://x, closeTimeout: 0 }
              h: { url: ws://x, subprotocols: [s, s, "t t", s], headers: { x-a: "\\x01", X-A: 2, X-a: 3 } }
              i: { url: *gone, URL: ws://x, compression: *gone, headers: *gone, rules: *gone, tls: *gone }
            http:
              listen: 0.0.0.0:80
              tokens: [{}, { name: 5, token: t }, { name: "5", token: t, allow: [] }, { nam: 5, connections: [] }]
            http: { keepAlive: 0 }
            htpp: 1

            """
        let first = "stands twice; the first is on line"
        let tags = "tags such as !name have no meaning here"
        let merging = "<< takes a mapping or a list of mappings"
        #expect(
            ConfigurationScene().complaints(yaml) == [
                "2: connections.a.compression: expected true or false, not `maybe`",
                "2: connections.a.bad: unknown key; \(keys)",
                "3: connections.a: \(first) 2",
                "3: connections.a.bed: unknown key; \(keys)",
                "6: connections.b.bad: unknown key; \(keys)",
                "6: connections.c.bad: unknown key; \(keys)",
                "7: connections.c: \(merging)",
                "7: connections.c.outbox.maxMessages: expected a whole number from 1 to 10000000, not `0`",
                "8: connections.d: \(merging)",
                "9: connections.e: there is no anchor &gone before this alias",
                "10: connections.f: \(tags)",
                "10: connections.f.maxMessageBytes: \(tags)",
                "10: connections.f.maxMessageBytes: expected a size such as 64KiB or 16MiB (1 to 1GiB), not `0`",
                "11: connections.g: a key must be a simple text",
                "11: connections.g[0].k: \(first) 11",
                "11: connections.g.?.l: \(first) 11",
                "11: connections.g.closeTimeout: "
                    + "expected a duration such as 250ms, 20s or 1m30s (10ms to 1h), not `0`",
                "12: connections.h.headers.x-a: expected the value of a header field, without control characters",
                "12: connections.h.headers.X-A: is the same as x-a on line 12",
                "12: connections.h.headers.X-a: is the same as x-a on line 12",
                "12: connections.h.subprotocols[1]: \(first) 12",
                "12: connections.h.subprotocols[2]: expected a subprotocol, without spaces and separators, not `t t`",
                "12: connections.h.subprotocols[3]: \(first) 12",
                "13: connections.i.url: there is no anchor &gone before this alias",
                "13: connections.i.compression: there is no anchor &gone before this alias",
                "13: connections.i.headers: there is no anchor &gone before this alias",
                "13: connections.i.rules: there is no anchor &gone before this alias",
                "13: connections.i.tls: there is no anchor &gone before this alias",
                "13: connections.i.URL: unknown key; did you mean url?",
                "16: http.tokens[0]: needs name",
                "16: http.tokens[0]: needs token",
                "16: http.tokens[2].allow: a token that allows nothing is of no use",
                "16: http.tokens[2]: the name `5` \(first) 16",
                "16: http.tokens[2]: the same token \(first) 16",
                "16: http.tokens[3].connections: a token without connections is of no use",
                "16: http.tokens[3].nam: unknown key; did you mean name?",
                "16: http.tokens[3]: needs name",
                "16: http.tokens[3]: needs token",
                "17: http: \(first) 14",
                "17: http.keepAlive: expected a duration such as 250ms, 20s or 1m30s (100ms to 24h), not `0`",
                "18: htpp: unknown key; did you mean http?",
            ]
        )
    }

    private let keys = ConfigurationScene().complaints("connections: { a: { url: ws://x, bad: 1 } }")
        .first?.split(separator: "; ").last ?? ""

    @Test(arguments: ["a: 1", "connections: { a: { } }", "http: { keepAlive: 0 }", "history: 5"])
    func `do not hide that the bridge stands open, nor that there is no upstream`(other: String) {
        let open = "http.listen: :80 can be reached from other machines"
        let yaml = other.hasPrefix("http") ? "http: { listen: ':80', keepAlive: 0 }" : "http: { listen: ':80' }\n\(other)"
        let lines = ConfigurationScene().complaints(yaml)
        #expect(lines.contains { $0.contains(open) })
        #expect(lines.contains { $0.contains("no upstream") } == !other.hasPrefix("connections"))
        #expect(lines.count == (other.hasPrefix("connections") ? 2 : 3))
    }

    @Test(arguments: [
        "http: { listen: ':80', tokens: [{ name: a }] }", "http: { listen: ':80', allowAnonymous: yes }",
        "http: { listen: ':80', allowAnonymous: true, allowAnonymous: true }", "http: { listen: ':80' }\nhttp: {}",
        "http: { listen: ':80' }\n  x", "http: { listen: ':80', tokens: !x [] }",
    ])
    func `do not guess whether the bridge stands open`(yaml: String) {
        let lines = ConfigurationScene().complaints(yaml + "\n" + ConfigurationScene.connection(""))
        #expect(lines.count >= 1)
        #expect(!lines.contains { $0.contains("can be reached") })
    }

    @Test func `do not say that there is no upstream where connections are misspelt`() {
        let lines = ConfigurationScene().complaints("conections: { a: { url: ws://x } }")
        #expect(lines == ["1: conections: unknown key; did you mean connections?"])
    }

    @Test func `tell the token of the environment from one of the file`() {
        let yaml = """
            http:
              tokens: [{ name: environment, token: t }]
            \(ConfigurationScene.connection(""))
            """
        #expect(ConfigurationScene().complaints(yaml) == [])
        let named = ConfigurationScene(environment: ["WSBRIDGE_TOKEN": "u"]).complaints(yaml)
        #expect(
            named == [
                "2: http.tokens: the token of WSBRIDGE_TOKEN is called `environment`; choose another name"
            ]
        )
        // The same secret under a name of its own is how the example has it.
        let other = yaml.replacing("name: environment", with: "name: ops")
        #expect(ConfigurationScene(environment: ["WSBRIDGE_TOKEN": "t"]).complaints(other) == [])
    }

    @Test func `tell files of TLS that can never be of use`() throws {
        let faults = [
            TLSFileFault(.authorities, "no authorities: no start line"), TLSFileFault(.certificate, "no key"),
        ]
        var scene = ConfigurationScene(
            files: ["conf/ca.pem": "", "conf/a.pem": ""],
            tlsFaults: ["conf/ca.pem": faults]
        )
        let yaml = """
            connections:
              a:
                url: wss://h
                tls:
                  ca: ca.pem
                  certificate: a.pem
              b: { url: wss://h, tls: { ca: ca.pem, certificate: gone.pem } }
            """
        #expect(
            scene.complaints(yaml) == [
                "5: connections.a.tls.ca: no authorities: no start line",
                "6: connections.a.tls.certificate: no key",
                "7: connections.b.tls.certificate: conf/gone.pem cannot be read: no such file or directory",
                "7: connections.b.tls.ca: no authorities: no start line",
            ]
        )
        scene.tlsFaults = [:]
        #expect(scene.complaints(yaml).count == 1)
    }

    @Test func `name where the page was to be`() {
        let connection = ConfigurationScene.connection("")
        let reason = "there is no page"
        var scene = ConfigurationScene(missingPages: ["nosuch": reason])
        let yaml = "http: { publicDirectory: nosuch }\n\(connection)"
        #expect(scene.complaints(yaml) == ["1: http.publicDirectory: \(reason)"])
        scene.flags = ["--public", "nosuch"]
        #expect(scene.complaints(connection) == ["wsbridge: --public: \(reason)"])
        guard case .failure(let error) = scene.run(yaml, as: "check") else {
            Issue.record("taken")
            return
        }
        #expect(error.exitCode == .unreadableFile)
        scene.flags = ["--public", "page"]
        #expect(scene.complaints(yaml) == [])
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
