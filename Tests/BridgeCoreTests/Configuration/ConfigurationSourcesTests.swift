import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Configuration sources` {
    private let serve = "serve --upstream ws://example.org/feed"

    @Test func `have defaults`() throws {
        let configuration = try #require(invoke(serve).configuration)
        #expect(configuration.http == HTTPSettings())
        #expect(configuration.http.listen == .tcp(host: "127.0.0.1", port: 8080))
        #expect(configuration.log.level == .info)
        #expect(configuration.log.format == .text)
        #expect(configuration.connections.keys.sorted() == ["default"])
        #expect(configuration.connections["default"]?.source.urls.first?.redacted == "ws://example.org/feed")
        #expect(configuration.connections["default"]?.settings == ConnectionSettings())
    }

    @Test func `count flags before the environment`() throws {
        let environment = [
            "WSBRIDGE_UPSTREAM": "ws://environment.example", "WSBRIDGE_LISTEN": "127.0.0.1:2",
            "WSBRIDGE_LOG_LEVEL": "error",
            "WSBRIDGE_LOG_FORMAT": "json",
        ]
        let alone = try #require(invoke("serve", environment).configuration)
        #expect(alone.connections["default"]?.source.urls.first?.redacted == "ws://environment.example/")
        #expect(alone.http.listen == .tcp(host: "127.0.0.1", port: 2))
        #expect(alone.log.level == .error)
        #expect(alone.log.format == .json)
        let flags = "\(serve) --listen 127.0.0.1:1 --log-level debug --log-format text"
        let both = try #require(invoke(flags, environment).configuration)
        #expect(both.connections["default"]?.source.urls.first?.redacted == "ws://example.org/feed")
        #expect(both.http.listen == .tcp(host: "127.0.0.1", port: 1))
        #expect(
            both.log
                == {
                    var log = LogSettings()
                    log.level = .debug
                    return log
                }()
        )
    }

    @Test func `take a flag even where the variable is wrong`() {
        let outcome = invoke("\(serve) --log-level debug", ["WSBRIDGE_LOG_LEVEL": "nonsense"])
        #expect(outcome.configuration?.log.level == .debug)
    }

    @Test func `take access settings from the environment`() throws {
        let configuration = try #require(
            invoke(
                serve,
                [
                    "WSBRIDGE_TOKEN": "s3cret", "WSBRIDGE_ALLOW_ANONYMOUS": "true",
                    "WSBRIDGE_ALLOWED_HOSTS": "a.example, [::1] ,b,,*",
                    "WSBRIDGE_ALLOWED_ORIGINS": "https://app.example,http://localhost:3000, null",
                ]
            ).configuration
        )
        #expect(configuration.http.tokens == [AccessToken(name: "environment", secret: Secret("s3cret"))])
        #expect(configuration.http.allowAnonymous)
        #expect(configuration.http.allowedHosts == ["a.example", "[::1]", "b", "*"])
        #expect(
            configuration.http.allowedOrigins == ["https://app.example", "http://localhost:3000", "null"]
        )
    }

    @Test func `count empty variables as none`() {
        let names = [
            "UPSTREAM", "LISTEN", "LOG_LEVEL", "LOG_FORMAT", "ALLOW_ANONYMOUS", "ALLOWED_HOSTS",
            "ALLOWED_ORIGINS", "CONFIG",
        ]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ("WSBRIDGE_\($0)", "") })
        #expect(invoke(serve, environment) == invoke(serve))
    }

    @Test(arguments: [
        ("UPSTREAM", "ftp://a", "expected a URL"), ("UPSTREAM", "ws://", "names no host"),
        ("LISTEN", "8080", "not `8080`"),
        ("LOG_LEVEL", "INFO", "expected debug"), ("LOG_FORMAT", "yaml", "expected text or json"),
        ("TOKEN", "", "it is empty"),
        ("TOKEN", "two words", "visible ASCII"), ("TOKEN", "t\n", "visible ASCII"),
        ("TOKEN", "é", "visible ASCII"),
        ("ALLOW_ANONYMOUS", "yes", "expected true or false, not `yes`"),
        ("ALLOWED_HOSTS", "http://a", "without scheme"),
        ("ALLOWED_HOSTS", "a:80", "without scheme and port"), ("ALLOWED_HOSTS", "a b", "host names"),
        ("ALLOWED_ORIGINS", "app.example", "origins such as"),
        ("ALLOWED_ORIGINS", "https://a/", "without a path"),
        ("ALLOWED_ORIGINS", "https://", "origins such as"),
        ("ALLOWED_ORIGINS", "https://*.a", "origins such as"),
    ])
    func `that are wrong in the environment are a wrong configuration`(
        name: String,
        value: String,
        complaint: String
    ) {
        let command = name == "UPSTREAM" ? "serve" : serve
        let outcome = invoke(command, ["WSBRIDGE_\(name)": value])
        #expect(outcome.error?.exitCode == .configuration)
        #expect(outcome.error?.complaints.count == 1)
        #expect(outcome.lines.hasPrefix("wsbridge: WSBRIDGE_\(name): "))
        #expect(outcome.lines.contains(complaint))
    }

    @Test(arguments: [
        ("serve --config a.yaml", [:]), ("check", ["WSBRIDGE_CONFIG": "a.yaml"]),
    ])
    func `name a file that cannot be read`(words: String, environment: [String: String]) {
        let outcome = invoke(words, environment)
        #expect(outcome.error?.exitCode == .unreadableFile)
        #expect(outcome.lines == "wsbridge: a.yaml: cannot be read: no such file or directory")
    }

    @Test func `count before a file that cannot be read`() {
        let outcome = invoke("serve --config a.yaml", ["WSBRIDGE_LOG_LEVEL": "loud"])
        #expect(outcome.error?.exitCode == .configuration)
        #expect(outcome.error?.complaints.count == 2)
        #expect(invoke("serve --config a.yaml --listen x").error?.exitCode == .usage)
    }

    @Test func `are all reported at once`() {
        let outcome = invoke(
            "serve --lisen :1 --log-level loud",
            ["WSBRIDGE_LOG_FORMAT": "xml", "WSBRIDGE_ALLOW_ANONYMOUS": "si", "WSBRIDGE_TOKEN": "s3 cret"]
        )
        let places = outcome.error?.complaints.map(\.place)
        #expect(
            places == [
                nil, nil, "--log-level", "WSBRIDGE_LOG_FORMAT", "WSBRIDGE_TOKEN", "WSBRIDGE_ALLOW_ANONYMOUS",
            ]
        )
        #expect(outcome.error?.exitCode == .usage)
        #expect(!outcome.lines.contains("s3 cret"))
    }

    @Test func `must name an upstream for serve alone`() {
        let outcome = invoke("serve")
        #expect(outcome.error?.exitCode == .configuration)
        #expect(outcome.lines.contains("--upstream wss://") && outcome.lines.contains("WSBRIDGE_UPSTREAM"))
        #expect(invoke("demo").configuration?.connections.isEmpty == true)
        #expect(invoke("demo", ["WSBRIDGE_UPSTREAM": "nonsense"]).configuration?.connections.isEmpty == true)
    }

    /// Whether the bridge starts, by address, token and permission.
    @Test(arguments: [
        ("127.0.0.1:1", false, false, true), ("[::1]:1", false, false, true),
        ("localhost:1", false, false, true),
        ("unix:/s", false, false, true), (":1", false, false, false), ("0.0.0.0:1", false, false, false),
        ("[::]:1", false, false, false), ("192.0.2.1:1", false, false, false),
        ("box.example:1", false, false, false),
        (":1", true, false, true), (":1", false, true, true), (":1", true, true, true),
    ])
    func `leave a bridge open only where that was wanted`(
        listen: String,
        hasToken: Bool,
        isAnonymousAllowed: Bool,
        starts: Bool
    ) {
        var environment = ["WSBRIDGE_ALLOW_ANONYMOUS": String(isAnonymousAllowed)]
        if hasToken { environment["WSBRIDGE_TOKEN"] = "t" }
        let outcome = invoke("demo --listen \(listen)", environment)
        #expect((outcome.configuration != nil) == starts)
        guard !starts else { return }
        #expect(outcome.error?.exitCode == .configuration)
        #expect(outcome.lines.contains("--listen: \(listen) "))
        #expect(outcome.lines.contains("WSBRIDGE_TOKEN"))
        #expect(outcome.lines.contains("WSBRIDGE_ALLOW_ANONYMOUS=true"))
    }

    @Test func `name the variable that opens a bridge`() {
        let outcome = invoke("demo", ["WSBRIDGE_LISTEN": ":1"])
        #expect(outcome.lines.hasPrefix("wsbridge: WSBRIDGE_LISTEN: "))
    }

    @Test func `do not blame the address for a wrong token`() {
        let outcome = invoke("demo --listen :1", ["WSBRIDGE_TOKEN": ""])
        #expect(outcome.error?.complaints.map(\.place) == ["WSBRIDGE_TOKEN"])
    }

    @Test(
        arguments: [
            (ExitCode.clean, 0), (.usage, 64), (.unreadableFile, 66), (.internalError, 70), (.cannotBind, 71),
            (.storeUnusable, 74),
            (.configuration, 78),
        ] as [(ExitCode, Int32)]
    )
    func `end in the codes of sysexits`(code: ExitCode, number: Int32) {
        #expect(code.rawValue == number)
    }

    @Test func `order log levels by importance`() {
        #expect(LogLevel.allCases.sorted() == [.debug, .info, .warning, .error])
    }
}
