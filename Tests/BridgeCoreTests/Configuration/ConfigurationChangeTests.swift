import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Change of the configuration` {
    private func configuration(
        _ connections: [String: String] = ["a": "ws://a", "b": "ws://b"],
        _ change: (inout BridgeConfiguration) -> Void = { _ in }
    ) throws -> BridgeConfiguration {
        var configuration = BridgeConfiguration()
        configuration.connections = try connections.mapValues {
            ConnectionConfiguration(url: try WebSocketURL($0))
        }
        change(&configuration)
        return configuration
    }

    private func change(
        from old: BridgeConfiguration,
        to new: BridgeConfiguration,
        roomFor subscribers: Int = 10_000
    ) -> ConfigurationChange {
        ConfigurationChange(from: old, to: new, roomFor: subscribers)
    }

    /// The message of the log record, and its fields.
    private func told(_ change: ConfigurationChange) -> String {
        let record = LogRecord(change)
        return (["\(record.level.rawValue): \(record.message)"] + record.fields.pairs.map { "\($0): \($1)" })
            .joined(separator: "; ")
    }

    @Test func `that is none does nothing`() throws {
        let change = self.change(from: try configuration(), to: try configuration())
        #expect(change.isEmpty)
        #expect(change.result == (try configuration()))
        #expect(told(change) == "info: reloaded: nothing has changed")
    }

    @Test(arguments: [
        (["a": "ws://a"], [], ["b"], []),
        (["a": "ws://a", "b": "ws://b", "d": "ws://d", "c": "ws://c"], ["c", "d"], [], []),
        (["a": "ws://a", "b": "ws://b/other"], [], [], ["b"]),
        (["b": "ws://a", "a": "ws://b"], [], [], ["a", "b"]),
        (["x": "ws://a"], ["x"], ["a", "b"], []), ([:], [], ["a", "b"], []),
    ])
    func `tells connections apart`(
        connections: [String: String],
        added: [String],
        removed: [String],
        replaced: [String]
    ) throws {
        let new = try configuration(connections)
        let change = self.change(from: try configuration(), to: new)
        #expect(change.added == added)
        #expect(change.removed == removed)
        #expect(change.replaced == replaced)
        #expect(change.settings.isEmpty && change.awaitingRestart.isEmpty)
        #expect(change.result == new)
    }

    @Test func `of any setting of a connection replaces it`() throws {
        let changes: [(inout ConnectionConfiguration) -> Void] = [
            { $0.upstream.headers = [HTTPField("A", "b")] }, { $0.upstream.compression = false },
            { $0.upstream.subprotocols = ["x"] }, { $0.upstream.maxMessageBytes = 1 },
            { $0.settings.heartbeat.missLimit = 5 }, { $0.settings.reconnect.enabled = false },
            { $0.settings.outbox.maxMessages = 7 }, { $0.settings.connectTimeout = .seconds(1) },
        ]
        for edit in changes {
            var new = try configuration()
            var connection = try #require(new.connections["b"])
            edit(&connection)
            new.connections["b"] = connection
            let change = self.change(from: try configuration(), to: new)
            #expect(change.replaced == ["b"])
        }
    }

    private static let applicable: [(String, @Sendable (inout BridgeConfiguration) -> Void)] = [
        ("http.tokens", { $0.http.tokens = [AccessToken(name: "a", secret: Secret("b"))] }),
        ("http.allowAnonymous", { $0.http.allowAnonymous = true }),
        ("http.allowedOrigins", { $0.http.allowedOrigins = ["*"] }),
        ("http.allowedHosts", { $0.http.allowedHosts = ["*"] }),
        ("http.maxBodyBytes", { $0.http.maxBodyBytes = 1 }),
        ("http.maxSubscribers", { $0.http.maxSubscribers = 1 }),
        ("http.maxFilters", { $0.http.maxFilters = 1 }),
        ("http.keepAlive", { $0.http.keepAlive = .seconds(1) }),
        ("http.retry", { $0.http.retry = .seconds(1) }),
        ("http.requestTimeout", { $0.http.requestTimeout = .seconds(1) }),
        ("http.sessionLifetime", { $0.http.sessionLifetime = .seconds(1) }),
        ("http.shutdownTimeout", { $0.http.shutdownTimeout = .seconds(1) }),
        ("memory", { $0.memory.maxBytes = 8 << 20 }),
        ("history", { $0.history.maxMessages = 1 }),
    ]

    @Test func `of settings that apply at once is taken on`() throws {
        for (key, edit) in Self.applicable {
            let new = try configuration(["a": "ws://a", "b": "ws://b"], edit)
            let change = self.change(from: try configuration(), to: new)
            #expect(change.settings == [key])
            #expect(change.awaitingRestart.isEmpty)
            #expect(change.result == new)
            #expect(told(change) == "info: reloaded; settings: text(\"\(key)\")")
        }
    }

    private static let fixed: [(String, @Sendable (inout BridgeConfiguration) -> Void)] = [
        ("http.listen", { $0.http.listen = .unix(path: "/run/b") }),
        ("http.socketMode", { $0.http.socketMode = (try? SocketMode(text: "0666")) ?? .owner }),
        ("http.tls", { $0.http.tls = ServerTLSSettings() }),
        ("http.publicDirectory", { $0.http.publicDirectory = PublicDirectory(name: "page") }),
        ("http.maxSubscribers", { $0.http.maxSubscribers = 20_000 }),
        ("storage.directory", { $0.storage.directory = "/data" }),
        ("http.maxConnectionsPerClient", { $0.http.maxConnectionsPerClient = 3 }),
    ]

    @Test func `of settings that are fixed waits, and goes on waiting`() throws {
        for (key, edit) in Self.fixed {
            let new = try configuration(["a": "ws://a", "b": "ws://b"], edit)
            let change = self.change(from: try configuration(), to: new)
            #expect(change.settings.isEmpty)
            #expect(change.awaitingRestart == [key])
            #expect(change.result == (try configuration()))
            let again = self.change(from: change.result, to: new)
            #expect(again.awaitingRestart == [key])
            #expect(
                told(again).hasPrefix("warning: reloaded, but some settings need a restart; needsRestart:")
            )
        }
    }

    @Test func `of the certificate applies at once where there was one, and TLS is not turned off`() throws {
        let names = ["a": "ws://a", "b": "ws://b"]
        var certificate = ServerTLSSettings()
        let old = try configuration(names) { $0.http.tls = certificate }
        certificate.certificateFile = "other.pem"
        let new = try configuration(names) { $0.http.tls = certificate }
        let change = self.change(from: old, to: new)
        #expect((change.settings, change.awaitingRestart) == (["http.tls"], []))
        #expect(change.result == new)
        let off = self.change(from: old, to: try configuration(names))
        #expect((off.settings, off.awaitingRestart) == ([], ["http.tls"]))
        #expect(off.result == old)
    }

    @Test func `of what the files of the certificate hold is told once`() throws {
        var change = self.change(from: try configuration(), to: try configuration())
        change.noteRenewedCertificate()
        change.noteRenewedCertificate()
        #expect(told(change) == "info: reloaded; settings: text(\"http.tls\")")
    }

    @Test func `never opens a bridge that goes on listening to other machines`() throws {
        let tokens = [AccessToken(name: "a", secret: Secret("b"))]
        let old = try configuration(["a": "ws://a", "b": "ws://b"]) {
            $0.http.listen = .tcp(host: "0.0.0.0", port: 80)
            $0.http.tokens = tokens
        }
        let local = try configuration()
        let change = self.change(from: old, to: local)
        #expect(change.result.http.tokens == tokens)
        #expect(change.awaitingRestart == ["http.listen", "http.tokens"])
        #expect(change.settings.isEmpty)
        let meant = try configuration(["a": "ws://a", "b": "ws://b"]) { $0.http.allowAnonymous = true }
        #expect(self.change(from: old, to: meant).result.http.tokens.isEmpty)
    }

    @Test func `of maxSubscribers goes up and down as far as there is room`() throws {
        var current = try configuration()
        for (wanted, got) in [(5, 5), (1, 1), (5, 5), (10_500, 10_500), (10_501, 10_500), (10_000, 10_000)] {
            let new = try configuration(["a": "ws://a", "b": "ws://b"]) { $0.http.maxSubscribers = wanted }
            let change = self.change(from: current, to: new, roomFor: 10_500)
            #expect(change.result.http.maxSubscribers == got)
            #expect(change.awaitingRestart == (wanted == got ? [] : ["http.maxSubscribers"]))
            current = change.result
        }
    }

    @Test func `knows every setting of the section http`() {
        let mirror = Mirror(reflecting: HTTPSettings())
        #expect(Set(mirror.children.compactMap(\.label)) == Set(ConfigurationChange.httpKeys))
    }

    @Test func `never touches how the log is written`() throws {
        let new = try configuration(["a": "ws://a", "b": "ws://b"]) { $0.log.level = .debug }
        let change = self.change(from: try configuration(), to: new)
        #expect(change.isEmpty)
        #expect(change.result.log.level == .info)
    }
}
