import BridgeCore
import Testing

/// No error of a file hides another one, or makes one up.
@Suite struct `Errors of a configuration file together` {
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
              tokens: [{}, { name: 5, token: t }, { name: "5", token: t, allow: [] }, { names: 5, connections: [] }]
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
                "16: http.tokens[3].names: unknown key; did you mean name?",
                "16: http.tokens[3]: needs name",
                "16: http.tokens[3]: needs token",
                "17: http: \(first) 14",
                "17: http.keepAlive: expected a duration such as 250ms, 20s or 1m30s (100ms to 24h), not `0`",
                "18: htpp: unknown key; did you mean http?",
            ]
        )
    }

    @Test func `name all that is missing`() {
        let start = "1: connections.default.rate: needs"
        let rates = [
            ("{}", ["messages", "per"]), ("{ per: 1s }", ["messages"]), ("{ messages: 1 }", ["per"]),
        ]
        for (rate, missing) in rates {
            let lines = ConfigurationScene().complaints(ConfigurationScene.connection("rate: \(rate)"))
            #expect(lines == missing.map { "\(start) \($0)" })
        }
        let wrong = ConfigurationScene().complaints(ConfigurationScene.connection("rate: { messages: 0 }"))
        #expect(wrong.count == 2)
        #expect(wrong.contains("\(start) per"))
    }

    private let keys =
        ConfigurationScene().complaints("connections: { a: { url: ws://x, bad: 1 } }")
        .first?.split(separator: "; ").last ?? ""

    @Test(arguments: ["a: 1", "connections: { a: { } }", "http: { keepAlive: 0 }", "history: 5"])
    func `do not hide that the bridge stands open, nor that there is no upstream`(other: String) {
        let open = "http.listen: :80 can be reached from other machines"
        let yaml =
            other.hasPrefix("http")
            ? "http: { listen: ':80', keepAlive: 0 }" : "http: { listen: ':80' }\n\(other)"
        let lines = ConfigurationScene().complaints(yaml)
        #expect(lines.contains { $0.contains(open) })
        #expect(lines.contains { $0.contains("no upstream") } == !other.hasPrefix("connections"))
        #expect(lines.count == (other.hasPrefix("connections") ? 2 : 3))
    }

    @Test(arguments: [
        "http: { listen: ':80', tokens: [{ name: a }] }", "http: { listen: ':80', allowAnonymous: yes }",
        "http: { listen: ':80', allowAnonymous: true, allowAnonymous: true }",
        "http: { listen: ':80' }\nhttp: {}",
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
}
