import BridgeCore
import WebSocketProtocol

/// A browser's sessions, with a clock and a random generator of their own.
struct SessionScene {
    var tokens = [
        AccessToken(name: "ops", secret: Secret("alpha")),
        AccessToken(
            name: "viewer",
            secret: Secret("beta"),
            scopes: [.read],
            connections: [NamePattern("b*")]
        ),
    ]
    var table = SessionTable()
    var now = Instant(nanoseconds: 0)
    private var random = SystemRandomNumberGenerator()

    mutating func begin(_ index: Int = 0, lasting lifetime: Duration = .seconds(60)) -> Begun {
        let begun = table.begin(
            for: tokens[index],
            lasting: lifetime,
            now: now,
            at: WallTime(millisecondsSince1970: 0),
            random: &random
        )
        return Begun(session: begun.session, cookie: begun.cookie, ended: begun.ended)
    }

    struct Begun {
        var session: SessionTable.Session
        var cookie: String
        var ended: SessionKey?
    }

    func gate(servesTLS: Bool = false) -> RequestGate {
        var settings = HTTPSettings()
        settings.tokens = tokens
        settings.allowedOrigins = ["https://app.example", "http://localhost:3000"]
        settings.allowedHosts = ["bridge.example"]
        if servesTLS { settings.tls = ServerTLSSettings() }
        return RequestGate(settings, ownNames: ["machine"])
    }

    func admit(_ line: String, _ fields: [String], host: String? = "localhost:8080") -> Admission {
        gate().admit(
            request(line, fields: fields, host: host),
            connections: ["a", "b", "default"],
            sessions: table
        )
    }

    /// What the cookie is called where the browser names this host.
    func cookieName(_ host: String? = "localhost:8080", _ gate: RequestGate? = nil) -> String {
        let admission = (gate ?? self.gate()).admit(
            request("DELETE /v1/session", fields: [], host: host),
            connections: []
        )
        guard case .serve(let request) = admission else { return "" }
        return request.cookie?.name ?? ""
    }
}
