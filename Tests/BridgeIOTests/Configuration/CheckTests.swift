import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `The checked configuration` {
    @Test func `reads as the same configuration`() throws {
        let yaml = #"""
            http:
              listen: "[::1]:9"
              allowedOrigins: ["null", "*", "https://a.example"]
            history: { maxAge: 90s }
            connections:
              z: { url: "ws://h/a$${b}?" , subprotocols: ["null", "1", "a.b", "true"] }
              "1": { url: "ws://h/s:/p", tls: { serverName: "x: \"é\" #\n$${Y}" }, reconnect: { factor: 1.25 } }
              "null": { url: "wss://[::1]/", heartbeat: { closeCode: 4000 }, outbox: { maxAge: 1.0005 } }
            """#
        let scene = ConfigurationScene()
        let text = try scene.checked(yaml)
        let read = try scene.configuration(text)
        var expected = try scene.configuration(yaml)
        // Its query is masked.
        expected.connections["z"]?.source = .listed([try WebSocketURL("ws://h/a${b}?***")])
        #expect(read == expected)
        #expect(try scene.checked(text) == text)
    }

    @Test func `shows no secret`() throws {
        let scene = ConfigurationScene(
            files: ["conf/secret": "s3cret-file"],
            environment: ["WSBRIDGE_TOKEN": "s3cret-environment", "S": "s3cret-variable"]
        )
        let text = try scene.checked(
            """
            http: { tokens: [{ name: ops, token: s3cret-token, allow: [send, read], connections: [a, "f*"] }] }
            connections:
              a:
                url: wss://s3cret:s3cret@example.org/feed?key=s3cret
                headers: { Authorization: "Bearer ${S}", X-Key: "${file:secret}" }
            """
        )
        #expect(!text.contains("s3cret"))
        #expect(
            text.contains(
                """
                  tokens:
                    - name: ops
                      token: "***"
                      allow: [read, send]
                      connections: [a, "f*"]
                    - name: environment
                      token: "***"
                      allow: [read, send, admin]
                      connections: ["*"]

                """
            )
        )
        #expect(text.contains("    url: \"wss://***@example.org/feed?***\"\n"))
        #expect(text.contains("    headers:\n      Authorization: \"***\"\n      X-Key: \"***\"\n"))
    }

    @Test func `is what flags and variables made of the file`() throws {
        let scene = ConfigurationScene(
            environment: [
                "WSBRIDGE_LISTEN": "127.0.0.1:2", "WSBRIDGE_ALLOWED_HOSTS": "x",
                "WSBRIDGE_UPSTREAM": "ws://e",
            ],
            flags: ["--upstream", "ws://flag"]
        )
        let yaml = """
            http: { listen: "127.0.0.1:1", allowedHosts: [y], allowAnonymous: true }
            connections:
              default: { closeTimeout: 1s }
              other: { url: "ws://other" }
            """
        let configuration = try scene.configuration(yaml)
        #expect(configuration.http.listen == .tcp(host: "127.0.0.1", port: 2))
        #expect(configuration.http.allowedHosts == ["x"])
        #expect(configuration.http.allowAnonymous)
        #expect(configuration.connections["default"]?.source.urls.first?.redacted == "ws://flag/")
        #expect(configuration.connections["default"]?.settings.closeTimeout == .seconds(1))
        #expect(configuration.connections["other"]?.source.urls.first?.redacted == "ws://other/")
    }

    @Test func `says in a comment what the memory of the system leads to`() throws {
        let file = ConfigurationScene.connection("")
        let scene = ConfigurationScene(memoryLimit: MemoryLimit(bytes: 768 << 20, origin: .controlGroup))
        let text = try scene.checked(file)
        #expect(text.hasSuffix("# memory.maxBytes: 384MiB here (half of the limit of the control group)\n"))
        #expect(try scene.configuration(text).memory.maxBytes == nil)
        #expect(try !scene.checked("memory: { maxBytes: 8MiB }\n" + file).contains("#"))
    }

    @Test func `keeps paths beside the file`() throws {
        let connection = ConfigurationScene.connection("")
        let unset = try ConfigurationScene().configuration("http: { listen: \"unix:run/s\" }\n" + connection)
        #expect(unset.http.listen == .unix(path: "conf/run/s"))
        #expect(unset.http.publicDirectory == PublicDirectory(base: "conf"))
        let set = try ConfigurationScene().configuration("http: { publicDirectory: page }\n" + connection)
        #expect(set.http.publicDirectory == PublicDirectory(name: "page", base: "conf"))
        let flag = ConfigurationScene(flags: ["--public", "page"])
        #expect(try flag.configuration(connection).http.publicDirectory == PublicDirectory(name: "page"))
    }
}
