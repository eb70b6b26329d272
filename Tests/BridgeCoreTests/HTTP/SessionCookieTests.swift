import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct `Cookies of sessions` {
    private let scene = SessionScene()

    private func cookie(
        _ line: String = "POST /v1/session",
        _ fields: [String] = [],
        host: String? = "localhost:8080",
        servesTLS: Bool = false
    ) throws -> SessionCookie {
        let head = request(line, fields: ["Authorization: Bearer alpha"] + fields, host: host)
        guard case .serve(let request) = scene.gate(servesTLS: servesTLS).admit(head, connections: []) else {
            throw Problem(.notFound, "it was not served")
        }
        return try #require(request.cookie)
    }

    @Test func `are out of reach of scripts and other sites`() throws {
        let cookie = try cookie()
        let field = cookie.setting("value", for: .seconds(60))
        #expect(field.name == "Set-Cookie")
        #expect(field.value == "\(cookie.name)=value; Path=/; Max-Age=60; HttpOnly; SameSite=Strict")
        #expect(cookie.removal.value == "\(cookie.name)=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
    }

    @Test(arguments: [
        (false, [], "bridge.example", false), (true, [], "bridge.example", true),
        (false, ["Origin: https://bridge.example"], "bridge.example", true),
        (false, ["Origin: http://bridge.example"], "bridge.example", false),
        (true, ["Origin: https://bridge.example"], "bridge.example", true),
    ])
    func `stay on TLS where they came over it`(
        servesTLS: Bool,
        fields: [String],
        host: String,
        expected: Bool
    ) throws {
        let cookie = try cookie("POST /v1/session", fields, host: host, servesTLS: servesTLS)
        #expect(cookie.setting("v", for: .seconds(1)).value.hasSuffix("; Secure") == expected)
        #expect(cookie.removal.value.hasSuffix("; Secure") == expected)
    }

    @Test func `have names that tell bridges apart`() {
        func other(_ change: (inout HTTPSettings) -> Void, _ names: [String] = ["machine"]) -> RequestGate {
            var settings = HTTPSettings()
            change(&settings)
            return RequestGate(settings, ownNames: names)
        }
        let own = scene.cookieName()
        let others = [
            scene.cookieName("localhost:8081"), scene.cookieName("localhost"),
            scene.cookieName("localhost:8080", other { $0.listen = .tcp(host: "127.0.0.1", port: 8081) }),
            scene.cookieName("localhost:8080", other({ _ in }, ["another-machine"])),
        ]
        #expect(Set(others + [own]).count == others.count + 1)
        // The same by whatever name the machine is called, and after a restart with other tokens.
        #expect(scene.cookieName("127.0.0.1:8080") == own)
        #expect(scene.cookieName("localhost:8080", other { _ in }) == own)
        #expect(own.hasPrefix("wsbridge-session-"))
        #expect(
            own.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0)
            }
        )
    }
}
