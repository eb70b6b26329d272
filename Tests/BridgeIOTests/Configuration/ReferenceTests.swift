import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `References in a configuration file` {
    /// What a text is replaced by: it becomes the name of the certificate.
    private func value(_ text: String) throws -> String? {
        let scene = ConfigurationScene(
            files: [
                "conf/secret": "  from file\n\n", "/run/secret": "absolute", "conf/latin": "x\u{0}",
                "conf/nested": "${A}",
            ],
            environment: ["A": "one", "B_2": "two", "EMPTY": "", "NULL": "null"]
        )
        return try scene.configuration(ConfigurationScene.connection("tls: { serverName: \(text) }"))
            .connections["default"]?.upstream.tls.serverName
    }

    @Test(arguments: [
        (#""${A}""#, "one"), (#""x${A}y${B_2}z""#, "xoneytwoz"), (#""${NONE:-else}""#, "else"),
        (#""${EMPTY:-else}""#, "else"), (#""${A:-else}""#, "one"), (#""$${A}""#, "${A}"),
        (#""$A $ $$ {}""#, "$A $ $$ {}"), (#""$$${A}""#, "$${A}"), (#""${file:secret}""#, "from file"),
        (#""${file:/run/secret}""#, "absolute"), (#""${file:nested}""#, "${A}"), (#""${NULL}""#, "null"),
        (#"'${A}'"#, "one"), (#""${NONE:-$A:-b}""#, "$A:-b"),
    ])
    func `are replaced before anything is made of the value`(text: String, expected: String) throws {
        #expect(try value(text) == expected)
    }

    @Test(arguments: [
        (#""${NONE}""#, "the environment variable NONE is not set"),
        (#""${A""#, "has a ${ without a }; a literal ${ is written $${"),
        (#""${}""#, "has something in ${} that is neither NAME, NAME:-default nor file:PATH"),
        (#""${1A}""#, "has something in ${} that is neither NAME, NAME:-default nor file:PATH"),
        (#""${A-b}""#, "has something in ${} that is neither NAME, NAME:-default nor file:PATH"),
        (#""${A:b}""#, "has something in ${} that is neither NAME, NAME:-default nor file:PATH"),
        (#""${file:}""#, "has a ${file:} without a path"),
        (#""${file:none}""#, "conf/none cannot be read: no such file or directory"),
        (#""${EMPTY}""#, "expected a name or an address"),
        (#""${file:latin}""#, "expected a name or an address"),
    ])
    func `that are wrong are told`(text: String, complaint: String) {
        let error = #expect(throws: ConfigurationScene.Unexpected.self) { try value(text) }
        #expect(error?.text == "conf/w.yaml:1: connections.default.tls.serverName: \(complaint)")
    }

    @Test func `may not stand for too much`() {
        let big = String(repeating: "a", count: 1 << 19)
        let scene = ConfigurationScene(files: ["conf/big": big], environment: ["BIG": big])
        #expect(
            scene.complaints(ConfigurationScene.connection("tls: { serverName: \"${BIG}${BIG}\" }")) == []
        )
        #expect(
            scene.complaints(
                ConfigurationScene.connection("tls: { serverName: \"${BIG}${file:big}x${BIG}\" }")
            ) == [
                "1: connections.default.tls.serverName: "
                    + "is too long with its references replaced: more than 1MiB"
            ]
        )
        let values = (0...32).map { "H\($0): \"${BIG}\"" }.joined(separator: ", ")
        #expect(
            scene.complaints(ConfigurationScene.connection("headers: { \(values) }")) == [
                "1: connections.default.headers.H32: references stand for more than 16MiB up to here"
            ]
        )
    }

    @Test func `count as what they stand for, even where that is nothing`() throws {
        let scene = ConfigurationScene(environment: [
            "AGE": "", "N": "~", "ON": "true", "COUNT": "7", "D": "1m",
        ])
        let yaml = """
            http: { allowAnonymous: "${ON}" }
            history:
              maxAge: ${AGE}
              maxMessages: ${COUNT}
            connections:
              a:
                url: ws://${HOST:-h}/
                reconnect:
                  maxRetries: ${N}
                  maxDelay: ${D}
            """
        let configuration = try scene.configuration(yaml)
        #expect(configuration.http.allowAnonymous)
        #expect(configuration.history.maxAge == nil)
        #expect(configuration.history.maxMessages == 7)
        #expect(configuration.connections["a"]?.source.urls.first?.redacted == "ws://h/")
        #expect(configuration.connections["a"]?.settings.reconnect.maxRetries == nil)
        #expect(configuration.connections["a"]?.settings.reconnect.maxDelay == .seconds(60))
        #expect(
            scene.complaints("history:\n  maxMessages: ${AGE}").first == "2: history.maxMessages: "
                + "expected a whole number from 0 to 1000000000, not null"
        )
    }
}
