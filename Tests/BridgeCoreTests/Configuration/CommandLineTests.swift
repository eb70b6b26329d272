import BridgeCore
import Testing

@Suite struct `Command line` {
    @Test(arguments: ["version", "--version"])
    func `asks for the version`(words: String) {
        #expect(invoke(words) == .success(.version))
    }

    @Test(arguments: [
        ("help", "Usage: wsbridge COMMAND"), ("--help", "Usage: wsbridge COMMAND"),
        ("-h", "Usage: wsbridge COMMAND"),
        ("help help", "Usage: wsbridge COMMAND"), ("help serve", "Usage: wsbridge serve"),
        ("serve --help", "Usage: wsbridge serve"),
        ("serve -h --nonsense", "Usage: wsbridge serve"), ("help demo", "Usage: wsbridge demo"),
        ("demo -h", "Usage: wsbridge demo"),
        ("help check", "Usage: wsbridge check"), ("check -h", "Usage: wsbridge check"),
        ("help version", "Usage: wsbridge version"),
        ("help health", "Usage: wsbridge health"), ("send -h", "Usage: wsbridge send"),
        ("help tail", "Usage: wsbridge tail"), ("version --help", "Usage: wsbridge version"),
    ])
    func `asks for help`(words: String, start: String) {
        guard case .success(.help(let text)) = invoke(words) else {
            Issue.record("no help for \(words)")
            return
        }
        #expect(text.contains(start))
        #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }

    @Test(arguments: ["serve", "demo"])
    func `has help for every flag and variable`(command: String) {
        guard case .success(.help(let text)) = invoke("help \(command)") else {
            Issue.record("no help")
            return
        }
        for name in [
            "LISTEN", "PUBLIC", "LOG_LEVEL", "LOG_FORMAT", "TOKEN", "ALLOW_ANONYMOUS", "ALLOWED_HOSTS",
            "ALLOWED_ORIGINS",
        ] {
            #expect(text.contains("WSBRIDGE_\(name)"))
        }
        #expect(text.contains("--upstream") == (command == "serve"))
    }

    @Test(arguments: [
        ("SERVE", "did you mean serve?"), ("serve --Listen :1", "did you mean --listen?"),
        ("", "no command given"), ("srve", "did you mean serve?"), ("dmeo", "did you mean demo?"),
        ("listen", "there are: serve, check, demo, health, send, tail, version, help"),
        ("heatlh", "did you mean health?"), ("tial", "did you mean tail?"),
        ("help nothing", "unknown command nothing"), ("help serve demo", "too many arguments"),
        ("version now", "too many arguments"),
        ("version --config a", "this command has no flags"),
        ("version --listen :1", "this command has no flags"), ("--listen :1", "no command given"),
        ("--lisen :1", "unknown flag --lisen"),
        ("serve --lisen :1", "did you mean --listen?"), ("serve --lsiten=:1", "did you mean --listen?"),
        ("serve --log-levle x", "did you mean --log-level?"),
        ("serve --upstraem x", "did you mean --upstream?"),
        ("serve -x", "unknown flag -x"), ("serve --zzzzzzzz", "unknown flag --zzzzzzzz"),
        ("serve --listen", "--listen: needs a value"),
        ("serve --listen --log-level info", "--listen: needs a value"),
        ("serve --listen=", "--listen: needs a value"),
        ("serve --listen :1 --listen :2", "--listen: is given more than once"),
        ("serve more", "unexpected argument"),
        ("serve --explain", "--explain: `wsbridge serve` does not take this flag"),
        ("check --explain=yes", "--explain: takes no value"), ("check --explian", "did you mean --explain?"),
        ("check --explain more", "unexpected argument"), ("check --preset", "--preset: needs a value"),
        ("check --preset a/..b --preset c", "--preset: is given more than once"),
        (
            "check --preset ..",
            "--preset: expected the name of a preset, or the path of a YAML file, not `..`"
        ),
        ("check --preset none", "--preset: there is no preset none; none is built in"),
        ("demo --preset x", "--preset: `wsbridge demo` does not take this flag"),
        ("serve --config", "--config: needs a value"), ("chekc", "did you mean check?"),
        ("demo --config a.yaml", "--config: demo has no configuration file"),
        ("serve --data-dir=", "--data-dir: needs a value"),
        ("health --data-dir /d", "--data-dir: `wsbridge health` does not take this flag"),
        ("demo --public", "--public: needs a value"),
        ("serve --token x", "set the environment variable WSBRIDGE_TOKEN"),
        ("demo --upstream ws://a", "--upstream: demo has an upstream of its own"),
        ("demo --listen 8080", "--listen: expected host:port, [v6]:port, :port or unix:PATH, not `8080`"),
        ("demo --log-level verbose", "expected debug, info, warning or error, not `verbose`"),
        ("demo --log-format xml", "expected text or json, not `xml`"),
        ("serve --upstream ftp://a", "--upstream: expected a URL"),
        ("serve --upstream ws://a#b", "has a fragment"),
    ])
    func `that is wrong is wrong usage`(words: String, complaint: String) {
        let outcome = invoke(words)
        #expect(outcome.error?.exitCode == .usage)
        #expect(outcome.lines.contains(complaint))
        #expect(outcome.error?.lines.allSatisfy { $0.hasPrefix("wsbridge: ") } == true)
        #expect(outcome.lines.contains("wsbridge help"))
    }

    @Test func `names the schemes of an upstream`() {
        let wrong = invoke("serve --upstream ftp://a")
        #expect(wrong.lines.contains("ws:// or wss:// (http:// and https:// count as these)"))
    }

    @Test func `takes a flag's value after a space or an equals sign`() {
        let spaced = invoke(
            "serve --upstream ws://a --listen :0 --log-level debug --log-format json",
            ["WSBRIDGE_TOKEN": "t"]
        )
        let joined = invoke(
            "serve --log-format=json --log-level=debug --listen=:0 --upstream=ws://a",
            ["WSBRIDGE_TOKEN": "t"]
        )
        #expect(spaced == joined)
        #expect(spaced.configuration?.log.level == .debug)
        #expect(spaced.configuration?.log.format == .json)
        #expect(spaced.configuration?.http.listen == .tcp(host: nil, port: 0))
    }

    @Test(arguments: [
        "serve wss://u:s3cret@a/?k=s3cret", "serve --upstream wss://u:s3cret@a:x",
        "serve --upstream=ftp://s3cret",
        "--upstream=ws://s3cret", "wss://u:s3cret@a", "serve --wss://s3cret", "serve -s3cret=s3cret",
        "serve --token=s3cret",
        "serve --token s3cret", "help ws://s3cret",
    ])
    func `that is wrong shows no secret`(words: String) {
        let outcome = invoke(words)
        #expect(outcome.error != nil)
        #expect(!outcome.lines.contains("s3cret"))
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `never traps`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = [
            "serve", "demo", "help", " ", "--", "listen", "=", ":1", "upstream", "ws://a", "-h", "version",
            "é",
        ]
        for _ in 0..<300 {
            let outcome = invoke(input.text(of: pieces))
            #expect(outcome.error?.complaints.isEmpty != true)
        }
    }
}
