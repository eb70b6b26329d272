import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol

@Suite struct `A preset with mistakes or secrets` {
    private let presets = PresetScene()
    private var scene: ConfigurationScene { presets.scene }

    private func file(_ members: String) -> String { presets.file(members) }

    @Test func `says once that a parameter is missing, at the connection`() {
        let about =
            "the preset needs the parameter token (What opens the chat): put token under `parameters`, "
            + "or set the environment variable CHAT_TOKEN"
        #expect(scene.complaints(file("preset: chat")) == ["1: connections.a.parameters: \(about)"])
        let yaml = "connections:\n  a:\n    preset: chat\n    parameters:\n      room: x\n"
        #expect(scene.complaints(yaml) == ["4: connections.a.parameters: \(about)"])
        // Where nothing of it is left that asks for the parameter, there is no need.
        #expect(scene.complaints(file("preset: chat, onOpen: [], headers: { Authorization: x }")) == [])
    }

    @Test(arguments: [
        ("preset: caht", ["preset: there is no preset caht; did you mean chat?"]),
        ("preset: other", ["preset: there is no preset other; there are: chat"]),
        ("preset: ..", ["preset: expected the name of a preset, or the path of a YAML file, not `..`"]),
        ("preset: [a]", ["preset: expected the name of a preset, or the path of a YAML file, not a list"]),
        (
            "preset: chat, parameters: { tokn: t, token: t }",
            [
                "parameters.tokn: the preset has no such parameter; did you mean token?"
            ]
        ),
        (
            "preset: chat, parameters: { token: t, somethingElse: t }",
            [
                "parameters.somethingElse: the preset has no such parameter; there are: token, room"
            ]
        ),
        (
            "preset: chat, parameters: { token: [s3cret] }",
            [
                "parameters.token: expected a text or a number, not a list"
            ]
        ),
        (
            "preset: chat, parameters: { token: null }",
            ["parameters.token: expected a text or a number, not null"]
        ),
        (
            "preset: chat, parameters: s3cret",
            [
                "parameters: expected a mapping of keys to values, not a single value"
            ]
        ),
        (
            "preset: chat, parameters: { token: t }, hearbeat: {}",
            [
                "hearbeat: unknown key; did you mean heartbeat?"
            ]
        ),
        (
            "url: ws://h, parameters: { token: t }",
            [
                "parameters.token: there is no preset that could have a parameter"
            ]
        ),
        (
            "url: ws://h, headers: { A: '${parameter:token}' }",
            [
                "headers.A: has a ${parameter:token}, which only the settings of a preset may"
            ]
        ),
        (
            "preset: chat, parameters: { token: t }, headers: { A: '${parameter:token}' }",
            [
                "headers.A: has a ${parameter:token}, which only the settings of a preset may"
            ]
        ),
        (
            "preset: chat, parameters: { token: '${NONE}' }",
            [
                "parameters.token: the environment variable NONE is not set"
            ]
        ),
    ])
    func `has mistakes told where they are`(members: String, complaints: [String]) {
        var scene = scene
        scene.builtInPresets = ["chat": ""]
        #expect(scene.complaints(file(members)) == complaints.map { "1: connections.a." + $0 })
    }

    @Test(arguments: [
        ("'{\"at\":${parameter:place}}'", "BTC/USD", true), ("'{\"at\":${parameter:place}}'", "[\"a\"", true),
        ("'{\"at\":${parameter:place}}'", "1},{\"x\":1", true),
        ("'{\"at\":${parameter:place}}'", "[\"a\"]", false),
        ("'{\"at\":\"${parameter:place}\"}'", "[\"a\"", false), ("'at ${parameter:place}'", "[\"a\"", false),
        ("'[{{/x}},${parameter:place}]'", "{{", true), ("'[{{now}},${parameter:place}]'", "7", false),
    ])
    func `takes only JSON where a parameter is JSON`(text: String, value: String, isMistake: Bool) {
        let preset = """
            parameters: { place: {} }
            url: wss://h/
            onOpen:
              - expect: { any: true }
              - send: { text: \(text) }
            """
        let scene = ConfigurationScene(files: ["conf/presets/p.yaml": preset], environment: ["PLACE": value])
        let found = scene.complaints(
            "connections:\n  a: { preset: p, parameters: { place: '${PLACE}' } }\n"
        )
        let complaint =
            "conf/presets/p.yaml:5: connections.a.onOpen[1].send.text: is no JSON with the values of its "
            + "parameters; one outside of quotes must be JSON itself"
        #expect(found == (isMistake ? [complaint] : []))
    }

    @Test func `has its own mistakes told with its file and line`() {
        let preset = """
            parameters:
              to-ken: { variable: 1A }
              room: { vraiable: A }
            url: wss://h/${parameter:rom}
            preset: other
            network: auto
            compression: true
            hedders: {}
            """
        let scene = ConfigurationScene(files: ["conf/presets/p.yaml": preset])
        let own = "connections:\n  a: { preset: p, outbox: 5 }\n"
        #expect(
            scene.complaints(own)
                == [
                    "2: connections.a.outbox: expected a mapping of keys to values, not a single value",
                    "presets/p.yaml:2: parameters.to-ken: a name has 1 to 64 letters, digits and `_`",
                    "presets/p.yaml:2: parameters.to-ken.variable: expected the name of an environment variable, not `1A`",
                    "presets/p.yaml:3: parameters.room.vraiable: unknown key; did you mean variable?",
                    "presets/p.yaml:4: connections.a.url: the preset has no parameter rom; did you mean room?",
                    "presets/p.yaml:5: preset: a preset cannot begin with another",
                    "presets/p.yaml:8: connections.a.hedders: unknown key; did you mean headers?",
                ].map { $0.hasPrefix("presets") ? "conf/" + $0 : $0 }
        )
    }

    @Test func `has mistakes in its settings told as those of the connection, with its file and line`() {
        let preset = """
            parameters: { room: {} }
            url: wss://h/
            headers: { A: "${parameter:rom}" }
            heartbeat: { interval: soon }
            reconnect: { maxDelay: 100ms }
            hedders: {}
            rules:
              - when: { any: true }
            """
        let scene = ConfigurationScene(builtInPresets: ["p": preset])
        let place = "built-in presets/p.yaml"
        #expect(
            scene.complaints(file("preset: p")) == [
                "\(place):3: connections.a.headers.A: the preset has no parameter rom; did you mean room?",
                "\(place):4: connections.a.heartbeat.interval: "
                    + "expected a duration such as 250ms, 20s or 1m30s (0, or 10ms to 24h), not `soon`",
                "\(place):5: connections.a.reconnect.maxDelay: initialDelay (500ms) is longer than maxDelay (100ms)",
                "\(place):6: connections.a.hedders: unknown key; did you mean headers?",
                "\(place):8: connections.a.rules[0]: does nothing; all that match are forwarded anyway",
            ]
        )
    }

    @Test(arguments: [
        ("a: [", ["conf/p.yaml:1: not valid YAML"]),
        ("- a", ["conf/p.yaml:1: expected a mapping of keys to values"]),
        ("a: 1\nurl: ws://h\nurl: ws://h", ["conf/p.yaml:3: url: stands twice; the first is on line 2"]),
    ])
    func `that is no mapping of YAML is told, and no URL is asked for`(preset: String, starts: [String]) {
        let lines = ConfigurationScene(files: ["conf/p.yaml": preset]).complaints(file("preset: p.yaml"))
            .filter { !$0.contains("unknown key") }
        #expect(lines.count == starts.count)
        for (line, start) in zip(lines, starts) { #expect(line.hasPrefix(start)) }
    }

    @Test func `without a URL needs one from the connection`() throws {
        let scene = ConfigurationScene(files: ["conf/p.yaml": "network: ignore"])
        #expect(scene.complaints(file("preset: p.yaml")) == ["1: connections.a: needs url"])
        #expect(try presets.connection("preset: p.yaml, url: ws://h", scene).settings.network == .ignore)
    }

    // MARK: Secrets

    @Test(arguments: [
        "url: wss://h/${parameter:v}", "url: wss://${parameter:v}/",
        "url: ['wss://h', 'wss://h/${parameter:v}']",
        "url: { http: { url: 'https://h/${parameter:v}' } }", "url: { command: ['${parameter:v}'] }",
        "url: ws://h\nproxy: http://${parameter:v}:80", "url: ws://h\nsubprotocols: ['${parameter:v}']",
        "url: ws://h\nrules: [{ when: { any: true }, topic: '${parameter:v}' }]",
        "url: ws://h\nheartbeat: { interval: '${parameter:v}' }",
        "url: ws://h\ntls: { serverName: '${parameter:v}' }",
        "url: '${parameter:v}'",
    ])
    func `may not put a parameter where it would be shown`(preset: String) {
        for value in ["s3cret", "ws://s3cret", "5"] {
            let text = "parameters: { v: { default: '\(value)' } }\n\(preset)"
            let lines = ConfigurationScene(files: ["conf/p.yaml": text]).complaints(file("preset: p.yaml"))
            #expect(lines.count == 1, "\(lines)")
            #expect(
                lines.first?.contains("may not hold a ${parameter:}, whose value is secret") == true,
                "\(lines)"
            )
        }
    }

    @Test(arguments: [
        "url: wss://${parameter:v}:${parameter:v}@h/p", "url: wss://h/p?${parameter:v}",
        "url: { http: { url: 'https://h/?a=${parameter:v}', headers: { A: '${parameter:v}' }, body: '${parameter:v}' } }",
        "url: { command: [a, '${parameter:v}'] }", "url: ws://h\nproxy: http://${parameter:v}@h:80",
        "url: ws://h\nonOpen: [{ send: { text: '${parameter:v}' } }, { expect: { json: { /a: '${parameter:v}' } } }]",
        "url: ws://h\nonOpen:\n- expect: { equals: '${parameter:v}' }\n- expect:\n    json:\n      /a: ${parameter:v}",
    ])
    func `never has parameters shown`(preset: String) throws {
        for value in ["s3cret", "4711"] {
            let text = "parameters: { v: {} }\n\(preset)"
            var scene = ConfigurationScene(files: ["conf/p.yaml": text])
            let yaml = file("preset: p.yaml, parameters: { v: '\(value)' }")
            #expect(try !scene.checked(yaml).contains(value))
            scene.flags = ["--explain"]
            #expect(try !scene.checked(yaml).contains(value))
        }
    }

    // MARK: Clients

    private func put(_ json: String, _ presets: [String: String]) throws(Problem) -> ConnectionConfiguration {
        var files = ConfigurationFiles(
            read: { path, _ throws(ConfigurationFiles.Unreadable) in
                Issue.record("read: \(path)")
                throw .init("no")
            },
            parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
        )
        files.builtInPresets = { presets.mapValues { Array($0.utf8) } }
        files.executableFolder = "/bin"
        return try ConnectionConfiguration(ofClient: Array(json.utf8), files: files)
    }

    private func errors(_ json: String, _ presets: [String: String]) -> [String] {
        do throws(Problem) {
            _ = try put(json, presets)
            return []
        } catch {
            return error.errors
        }
    }

    @Test func `that is built in may be named by clients, who give its parameters`() throws {
        let builtIn = [
            "chat": PresetScene.chat,
            "ask": "url: { http: { url: 'https://h/p', headers: { A: a } } }\nparameters: { a: {} }",
        ]
        let connection = try put(#"{"preset":"chat","parameters":{"token":"t","room":7}}"#, builtIn)
        #expect(presets.sent(connection) == #"{"room":"7","token":"t"}"#)
        // Whom a built-in preset asks was not chosen by the client, unless the client says it.
        guard case .asked = try put(#"{"preset":"ask"}"#, builtIn).source else {
            Issue.record("not asked")
            return
        }
        let asked = errors(#"{"preset":"ask","url":{"http":{"url":"http://127.0.0.1"}}}"#, builtIn)
        #expect(asked == ["url: names what is to give the URL, which only the configuration file may"])
        #expect(
            errors(#"{"preset":"chat"}"#, builtIn) == [
                "parameters: the preset needs the parameter token (What opens the chat): put token under `parameters`"
            ]
        )
        #expect(
            errors(#"{"preset":"chat","parameters":{"token":"${HOME}"}}"#, builtIn) == [
                "parameters.token: has a ${}, which only the configuration file may; a literal ${ is written $${"
            ]
        )
        #expect(
            errors(#"{"preset":"caht"}"#, builtIn) == ["preset: there is no preset caht; did you mean chat?"]
        )
    }
}
