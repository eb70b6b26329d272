import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

@Suite struct `A preset` {
    private let presets = PresetScene()
    private var scene: ConfigurationScene { presets.scene }

    private func file(_ members: String) -> String { presets.file(members) }

    private func connection(_ members: String, _ scene: ConfigurationScene? = nil) throws
        -> ConnectionConfiguration
    {
        try presets.connection(members, scene)
    }

    private func sent(_ connection: ConnectionConfiguration) -> String { presets.sent(connection) }

    // MARK: Merging

    @Test func `gives a connection its settings`() throws {
        let connection = try connection("preset: chat, parameters: { token: t }")
        #expect(connection.source.urls.first?.redacted == "wss://chat.example/feed")
        #expect(
            connection.upstream.headers == [HTTPField("Authorization", "Bearer t"), HTTPField("X-A", "a")]
        )
        #expect(connection.settings.heartbeat.interval == .seconds(5))
        #expect(connection.settings.rules.count == 1)
        #expect(sent(connection) == #"{"room":"lobby","token":"t"}"#)
    }

    @Test func `stands below the connection's own settings`() throws {
        let connection = try connection(
            """
            preset: chat, parameters: { token: t }, url: ws://own, headers: { authorization: own, X-B: b },
            heartbeat: { missLimit: 3, send: ping, expect: { json: { /pong: 2 } } },
            reconnect: { stopOnCloseCodes: [1000], maxDelay: 2m }, onOpen: [], rules: [{ when: { any: true }, topic: own }]
            """
        )
        #expect(connection.source.urls.first?.redacted == "ws://own/")
        let headers = [HTTPField("authorization", "own"), HTTPField("X-B", "b"), HTTPField("X-A", "a")]
        #expect(connection.upstream.headers == headers)
        let heartbeat = connection.settings.heartbeat
        #expect((heartbeat.interval, heartbeat.missLimit, heartbeat.send) == (.seconds(5), 3, .ping))
        let pointer = try #require(JSONPointer("/pong"))
        let number = try #require(JSONNumber("2"))
        #expect(heartbeat.expect == .json(JSONConditions([.init(pointer, .number(number))])))
        #expect(connection.settings.reconnect.stopOnCloseCodes == [1000...1000])
        #expect(connection.settings.reconnect.maxDelay == .seconds(120))
        #expect(connection.settings.onOpen == [])
        #expect(try connection.settings.rules.map(\.topic) == [TopicTemplate("own")])
    }

    @Test(arguments: [
        ("{ http: { headers: { A: a } } }", "{ http: { url: http://p, headers: { B: b } } }", "http://p"),
        ("{ timeout: 1s }", "{ http: { url: http://p } }", "http://p"),
        ("{ command: [own] }", "{ http: { url: http://p } }", "own"),
        ("{ http: { url: http://own } }", "{ command: [p], timeout: 2s }", "http://own"),
        ("ws://own", "{ http: { url: http://p } }", "ws://own"), ("{ command: [own] }", "ws://p", "own"),
    ])
    func `has who is asked for a URL replaced by another, or told more`(
        own: String,
        of preset: String,
        asks: String
    )
        throws
    {
        let scene = ConfigurationScene(files: ["conf/p.yaml": "url: \(preset)"])
        let text = try scene.checked(file("preset: p.yaml, url: \(own)"))
        #expect(text.contains(asks))
    }

    @Test func `is told of a comment, and the rest reads as the same configuration without it`() throws {
        let yaml = file("preset: chat, parameters: { token: s3cret }")
        let text = try scene.checked(yaml)
        #expect(text.contains("# connections.a: begins with the preset conf/presets/chat.yaml\n"))
        #expect(!text.contains("s3cret"))
        let again = try ConfigurationScene().checked(text)
        #expect(
            again + "" == text.split(separator: "\n").filter { !$0.contains("# connections.a") }
                .joined(separator: "\n") + "\n"
        )
    }

    // MARK: Where it is found

    @Test func `is looked for beside the file, beside the program, and inside of it`() throws {
        var scene = ConfigurationScene(
            files: [
                "conf/presets/p.yaml": "url: ws://h1",
                "/bin/../share/wsbridge/presets/p.yaml": "url: ws://h2",
            ],
            builtInPresets: ["p": "url: ws://h3"],
            executableFolder: "/bin"
        )
        func url() throws -> String? { try connection("preset: p", scene).source.urls.first?.redacted }
        #expect(try url() == "ws://h1/")
        scene.files["conf/presets/p.yaml"] = nil
        #expect(try url() == "ws://h2/")
        scene.files = [:]
        #expect(try url() == "ws://h3/")
    }

    @Test(arguments: ["./p.yaml", "p.yaml", "sub/p", "/abs/p", "p.yml", "p.json"])
    func `may be a path, which counts from the file`(path: String) throws {
        let place = path.hasPrefix("/") ? path : "conf/\(path)"
        let scene = ConfigurationScene(files: [place: "{ \"url\": \"ws://h1\" }"])
        #expect(try connection("preset: \(path)", scene).source.urls.first?.redacted == "ws://h1/")
        let lines = ConfigurationScene(builtInPresets: ["p": "", "p.yaml": ""]).complaints(
            file("preset: \(path)")
        )
        #expect(lines == ["1: connections.a.preset: \(place) cannot be read: no such file or directory"])
    }

    // MARK: Parameters

    @Test func `takes parameters from the connection, else the environment, else its defaults`() throws {
        var scene = scene
        #expect(
            sent(try connection("preset: chat, parameters: { token: '${T}', room: 5 }")).contains(
                #""room":"5""#
            )
        )
        #expect(
            sent(try connection("preset: chat, parameters: { token: '${T}' }")).contains(#""token":"s3cret""#)
        )
        scene.environment["CHAT_TOKEN"] = "env"
        scene.environment["CHAT_ROOM"] = "hall"
        #expect(sent(try connection("preset: chat", scene)) == #"{"room":"hall","token":"env"}"#)
        #expect(
            sent(try connection("preset: chat, parameters: { token: t }", scene)).contains(#""token":"t""#)
        )
        scene.environment["CHAT_ROOM"] = ""
        #expect(sent(try connection("preset: chat", scene)).contains(#""room":"lobby""#))
        #expect(sent(try connection("preset: chat, parameters: { room: '' }", scene)).contains(#""room":"""#))
    }

    @Test(
        arguments: [
            #"quote " end"#, #"back \"#, "line\nend", "{{now}}", "{", "{{{", "a}", #"{{}} \{{}} "\\"#,
            #"\{{/a}}"#, #"\\{{"#, "}}", "${T}",
            "é\u{1}", "",
        ]
    )
    func `keeps a parameter within the string that it stands in, whatever it is`(value: String) throws {
        var scene = ConfigurationScene(
            files: [
                "conf/p.yaml": #"""
                parameters: { v: { variable: V } }
                url: ws://h
                onOpen:
                  - send: { text: '{"a":"${parameter:v}{{counter}}","b":1}' }
                  - send: { text: 'plain ${parameter:v} {{counter}}' }
                  - send: { text: '${parameter:v}{{counter}}' }
                  - send: { text: '{{sha256base64:{{sha256base64:${parameter:v}{{counter}}}}}}' }
                headers: { A: "x${parameter:v}" }
                """#
            ]
        )
        if value.contains("\n") || value.contains("\u{1}") {
            scene.files["conf/p.yaml"]?.replace(#"headers: { A: "x${parameter:v}" }"#, with: "")
        }
        scene.environment["V"] = value.isEmpty ? "x" : value
        let connection = try connection(
            value.isEmpty ? "preset: p.yaml, parameters: { v: '' }" : "preset: p.yaml",
            scene
        )
        var random = SystemRandomNumberGenerator()
        let values = TemplateValues(timeOfDay: WallTime(millisecondsSince1970: 0), counter: 7) { $0 }
        let messages = connection.settings.onOpen.compactMap { step -> Message? in
            guard case .send(let message) = step.deed else { return nil }
            return message.message(with: values, random: &random)
        }
        // Nothing of it has become a template, nor ended the string.
        let place = try #require(JSONPointer("/a"))
        let expected = JSONConditions([.init(place, .string(value + "7"))])
        #expect(
            Matcher.json(expected).matches(messages[0]),
            "\(String(decoding: messages[0].bytes, as: UTF8.self))"
        )
        #expect(messages[1] == Message(.text, Array("plain \(value) 7".utf8)))
        #expect(messages[2] == Message(.text, Array("\(value)7".utf8)))
        let once = base64("\(value)7")
        #expect(messages[3] == Message(.text, Array(base64(once).utf8)))
        if let header = connection.upstream.headers.first { #expect(header.value == "x\(value)") }
    }

    private func base64(_ text: String) -> String {
        var bytes: [UInt8] = []
        Base64.append(Array(text.utf8), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `may hash a parameter`() throws {
        let text = #"{"a":"{{sha256base64:${parameter:v}{{/salt}}}}"}"#
        let scene = ConfigurationScene(
            files: [
                "conf/p.yaml": """
                parameters: { v: { default: 'a"b' } }
                url: ws://h
                rules: [{ when: { any: true }, reply: { text: '\(text)' } }]
                """
            ]
        )
        let reply = try #require(try connection("preset: p.yaml", scene).settings.rules.first?.reply)
        #expect(reply.template.source == text.replacing("${parameter:v}", with: #"a"b"#))
    }
}
