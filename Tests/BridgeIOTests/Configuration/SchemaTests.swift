import BridgeCore
import Testing

/// A key that takes effect: a value other than its default, how `check` shows it, and what must stand beside it.
private struct KeyCase: CustomTestStringConvertible {
    let path: String
    let value: String
    let shown: String
    let beside: String

    init(_ path: String, _ value: String, shows shown: String? = nil, beside: String = "") {
        self.path = path
        self.value = value
        self.shown = shown ?? value
        self.beside = beside
    }

    var testDescription: String { path }

    /// A file that sets the key alone, or what must stand beside it alone.
    func file(setting isSet: Bool) -> String {
        let members = beside + (isSet ? "\(path.split(separator: ".").last ?? ""): \(value)" : "")
        var sections = path.split(separator: ".").dropLast()
        guard sections.first == "connections" else {
            return wrapped(members, in: sections) + "\n" + ConfigurationScene.connection("")
        }
        sections.removeFirst(2)
        guard path.hasPrefix("connections.*.url") else {
            return ConfigurationScene.connection(wrapped(members, in: sections))
        }
        // What is said of a provider stands in the place of the URL.
        guard !members.isEmpty else { return ConfigurationScene.connection("") }
        return "connections: { default: { \(wrapped(members, in: sections)) } }"
    }

    private func wrapped(_ members: String, in sections: ArraySlice<Substring>) -> String {
        sections.reversed().reduce(members) { inner, section in "\(section): { \(inner) }" }
    }
}

private let cases = [
    KeyCase("http.listen", "localhost:1"),
    KeyCase("http.socketMode", "\"660\"", shows: "0660"),
    KeyCase("http.publicDirectory", "page"),
    KeyCase("http.tls", "{ certificate: /b.pem }", shows: ""),
    KeyCase("http.tls.key", "a.pem", shows: "conf/a.pem", beside: "certificate: /b.pem, "),
    KeyCase("http.tls.keyPassword", "s", shows: "\"***\"", beside: "certificate: /b.pem, "),
    KeyCase("http.tokens", "[{ name: a, token: t }]", shows: ""),
    KeyCase("http.allowAnonymous", "true"),
    KeyCase("http.allowedOrigins", "[\"https://a.example\", \"*\"]", shows: "[https://a.example, \"*\"]"),
    KeyCase("http.allowedHosts", "[a.example, \"[::1]\"]"),
    KeyCase("http.maxBodyBytes", "64KiB"), KeyCase("http.maxSubscribers", "0"),
    KeyCase("http.maxFilters", "1"), KeyCase("http.maxConnectionsPerClient", "5"),
    KeyCase("http.keepAlive", "100ms"), KeyCase("http.retry", "0", shows: "0s"),
    KeyCase("http.requestTimeout", "1.5", shows: "1s500ms"), KeyCase("http.shutdownTimeout", "0s"),
    KeyCase("http.dynamicConnections", "true"), KeyCase("http.sessionLifetime", "12h"),
    KeyCase("memory.maxBytes", "8MiB"), KeyCase("storage.directory", "/data"),
    // It counts from the folder of the file.
    KeyCase("storage.directory", "data", shows: "conf/data"),
    KeyCase("history.maxMessages", "0"), KeyCase("history.maxBytes", "1GiB"), KeyCase("history.maxAge", "2h"),
    KeyCase("history.includeSent", "true"),
    KeyCase("connections.*.url", "\"ws://a:b@h/p?q\"", shows: "\"ws://***@h/p?***\""),
    KeyCase("connections.*.connect", "onDemand"), KeyCase("connections.*.idleTimeout", "5m"),
    KeyCase("connections.*.url.http.url", "\"https://a:b@h/p?q\"", shows: "\"https://***@h/p?***\""),
    KeyCase("connections.*.url.http.method", "PUT", beside: "url: http://h, "),
    KeyCase("connections.*.url.http.headers", "{ A: s }", shows: "", beside: "url: http://h, "),
    KeyCase("connections.*.url.http.body", "s", shows: "\"***\"", beside: "url: http://h, "),
    KeyCase("connections.*.url.http.pointer", "/url", beside: "url: http://h, "),
    KeyCase("connections.*.url.command", "[./a, s]", shows: "[conf/./a, \"***\"]"),
    KeyCase("connections.*.url.timeout", "250ms", beside: "command: [a], "),
    KeyCase("connections.*.headers", "{ Cookie: a }", shows: ""),
    KeyCase("connections.*.subprotocols", "[v2, v1]"),
    KeyCase("connections.*.requireSubprotocol", "true", beside: "subprotocols: [a], "),
    KeyCase("connections.*.connectTimeout", "1m30s"), KeyCase("connections.*.closeTimeout", "250ms"),
    KeyCase("connections.*.compression", "false"), KeyCase("connections.*.maxMessageBytes", "1"),
    KeyCase("connections.*.proxy", "\"http://a:b@h:1\"", shows: "\"http://***@h:1\""),
    KeyCase("connections.*.tls.ca", "a.pem", shows: "conf/a.pem"),
    KeyCase("connections.*.tls.certificate", "/b.pem"),
    KeyCase("connections.*.tls.key", "a.pem", shows: "conf/a.pem", beside: "certificate: /b.pem, "),
    KeyCase("connections.*.tls.keyPassword", "s", shows: "\"***\"", beside: "certificate: /b.pem, "),
    KeyCase("connections.*.tls.serverName", "name.example"), KeyCase("connections.*.tls.verify", "false"),
    KeyCase("connections.*.heartbeat.interval", "0", shows: "0s"),
    KeyCase("connections.*.heartbeat.missLimit", "1"), KeyCase("connections.*.heartbeat.first", "random"),
    KeyCase("connections.*.heartbeat.send", "none"),
    KeyCase("connections.*.heartbeat.expect", "{ any: true }", shows: ""),
    KeyCase("connections.*.heartbeat.reply", "{ text: a }", shows: "", beside: "expect: { any: true }, "),
    KeyCase("connections.*.heartbeat.alive", "answer"),
    KeyCase("connections.*.heartbeat.closeCode", "4000"),
    KeyCase("connections.*.reconnect.enabled", "false"),
    KeyCase("connections.*.reconnect.initialDelay", "10ms"), KeyCase("connections.*.reconnect.factor", "1.5"),
    KeyCase("connections.*.reconnect.maxDelay", "2m"), KeyCase("connections.*.reconnect.jitter", "0"),
    KeyCase("connections.*.reconnect.maxRetries", "3"), KeyCase("connections.*.reconnect.resetAfter", "0s"),
    KeyCase("connections.*.reconnect.stopOnCloseCodes", "[1000, 4000-4099]"),
    KeyCase("connections.*.reconnect.forgetOnCloseCodes", "[4007, 4009]"),
    KeyCase("connections.*.reconnect.stopOnStatus", "[401, 403]"),
    KeyCase("connections.*.network", "ignore"),
    KeyCase("connections.*.outbox.whenOffline", "reject"), KeyCase("connections.*.outbox.maxMessages", "1"),
    KeyCase("connections.*.outbox.maxBytes", "1"), KeyCase("connections.*.outbox.maxAge", "1m"),
    KeyCase("connections.*.outbox.overflow", "dropOldest"),
    KeyCase("connections.*.outbox.confirm", "pong"), KeyCase("connections.*.outbox.wakes", "true"),
    KeyCase("connections.*.receiveOnly", "true"),
    KeyCase("connections.*.rate", "{ messages: 5, per: 1s }", shows: ""),
    KeyCase(
        "connections.*.resumeUrl",
        "\"wss://{{var:a}}/s3cret\"",
        shows: "\"{{var:a}}***\"",
        beside: "rules: [{ when: { any: true }, capture: { a: /a } }], "
    ),
    KeyCase("connections.*.onOpen", "[{ send: { text: a } }]", shows: ""),
    KeyCase("connections.*.rules", "[{ when: { any: true }, forward: false }]", shows: ""),
    KeyCase("connections.*.request.correlate", "/id"), KeyCase("connections.*.request.id", "counter"),
]

@Suite struct `The schema` {
    private let scene = ConfigurationScene(files: ["conf/a.pem": "", "/b.pem": ""])

    /// Keys whose values are given as a whole, or that may have one of their own in place of further keys.
    private let wholes: Set = [
        "http.tokens", "http.tls", "connections.*.rate", "connections.*.url", "connections.*.onOpen",
        "connections.*.rules",
    ]

    /// The keys that hold values themselves, not further keys.
    private func leaves(available isAvailable: Bool) -> Set<String> {
        let keys = ConfigurationSchema.keys
        return Set(
            keys.filter { key in
                key.isAvailable == isAvailable
                    && (wholes.contains(key.path) || !keys.contains { $0.path.hasPrefix(key.path + ".") })
            }.map(\.path)
        )
    }

    @Test(arguments: cases)
    private func `has keys that change the configuration and show in it`(key: KeyCase) throws {
        let base = try scene.configuration(key.file(setting: false))
        let changed = try scene.configuration(key.file(setting: true))
        #expect(changed != base)
        let name = key.path.split(separator: ".").last ?? ""
        let lines = try scene.checked(key.file(setting: true)).split(separator: "\n")
        let shown = key.shown.isEmpty ? "\(name):" : "\(name): \(key.shown)"
        #expect(lines.contains { $0.drop { $0 == " " } == shown })
    }

    @Test func `has a case here for every key that is available`() {
        let parts: Set = [
            "http.tokens.name", "http.tokens.token", "http.tokens.allow", "http.tokens.connections",
            "connections.*.rate.messages", "connections.*.rate.per", "http.tls.certificate",
        ]
        // What steps and rules are made of, and presets, have tests of their own.
        let elsewhere = leaves(available: true).filter { path in
            ["onOpen.", "rules.", "preset", "parameters"].contains { path.hasPrefix("connections.*.\($0)") }
        }
        #expect(leaves(available: true) == Set(cases.map(\.path)).union(parts).union(elsewhere))
    }

    @Test func `has every key once`() {
        let paths = ConfigurationSchema.keys.map(\.path)
        #expect(Set(paths).count == paths.count)
    }

    @Test func `refuses every key that is not available, wherever it stands`() {
        for path in leaves(available: false) {
            var parts = path.split(separator: ".")
            // Keys inside of what is not available are refused with it.
            while !ConfigurationSchema.keys.contains(where: {
                $0.path == parts.dropLast().joined(separator: ".") && $0.isAvailable
            }) { parts.removeLast() }
            let key = KeyCase(parts.joined(separator: "."), "[{ some: thing }]")
            let complaints = scene.complaints(key.file(setting: true))
            #expect(complaints.count == 1, "\(path)")
            #expect(complaints.first?.contains("is not available in this version") == true, "\(path)")
        }
    }

    @Test func `takes values that ask for nothing where a key is not available`() throws {
        let connection = ConfigurationScene.connection(
            """
            preset: null, parameters: {}, resumeUrl: ~, proxy: null, rate: , onOpen: [], rules: [], request: null
            """
        )
        let yaml = """
            http: { tls: null, dynamicConnections: false }
            memory: { maxBytes: null }
            storage: { directory: null }
            history: { includeSent: false }
            """
        let plain = try scene.configuration(ConfigurationScene.connection(""))
        #expect(try scene.configuration(yaml + "\n" + connection) == plain)
    }
}
