import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct Sessions {
    private var scene = SessionScene()

    @Test mutating func `allow what their tokens do`() {
        let names = (scene.cookieName(), scene.begin(0).cookie, scene.begin(1).cookie)
        let lines = [
            "GET /v1/connections/b/status", "POST /v1/connections/b/messages", "GET /status",
            "GET /v1/session",
        ]
        func outcomes(_ cookie: String) -> [String] {
            lines.map { scene.admit($0, ["Cookie: \(names.0)=\(cookie)"]).summary }
        }
        #expect(outcomes(names.1) == ["serve", "serve", "serve", "serve"])
        #expect(outcomes(names.2) == ["serve", "403 forbidden", "403 forbidden", "serve"])
    }

    @Test mutating func `are named by the caller, and known as such`() throws {
        let begun = scene.begin(1)
        let admission = scene.admit("GET /v1/session", ["Cookie: \(scene.cookieName())=\(begun.cookie)"])
        guard case .serve(let request) = admission else {
            Issue.record("refused")
            return
        }
        #expect(request.caller == .session(begun.session.key, scene.tokens[1]))
        #expect(request.caller.name == "viewer")
    }

    @Test(arguments: [
        "{name}={cookie}", "a=b; {name}={cookie}", "{name}={cookie}; a=b", "  {name} = {cookie} ",
        "{name}=\"{cookie}\"", ";;a;=;b=c=d;{name}={cookie};", "{name}=wrong; {name}={cookie}",
        "{name}x=1; x{name}=2; {name}={cookie}", "a=\"b;{name}={cookie}",
    ])
    func `are found among any cookies`(field: String) {
        var scene = scene
        let cookie = scene.begin().cookie
        let text = field.replacing("{name}", with: scene.cookieName()).replacing("{cookie}", with: cookie)
        #expect(scene.admit("GET /status", ["Cookie: \(text)"]).summary == "serve")
        #expect(scene.admit("GET /status", ["Cookie: a=b", "Cookie: \(text)"]).summary == "serve")
    }

    @Test(arguments: [
        "", "0", "{cookie}0", "0{cookie}", "{CUT}", "{UPPER}", "{cookie},", "{OTHER}", "{KEY}",
    ])
    func `are not what is only like one`(value: String) {
        var scene = scene
        let cookie = scene.begin().cookie
        let last = cookie.last == "0" ? "1" : "0"
        let text = value.replacing("{cookie}", with: cookie).replacing(
            "{CUT}",
            with: String(cookie.dropLast())
        )
        .replacing("{UPPER}", with: cookie.uppercased()).replacing("{OTHER}", with: cookie.dropLast() + last)
        .replacing("{KEY}", with: cookie.prefix(16) + String(repeating: "0", count: 64))
        let admission = scene.admit("GET /status", ["Cookie: \(scene.cookieName())=\(text)"])
        #expect(admission.summary == "401 unauthorized")
        #expect(admission.response?.text.contains("the session has ended") == true)
        #expect(admission.field("WWW-Authenticate")?.contains("error=\"invalid_token\"") == true)
    }

    @Test mutating func `are looked for in few cookies of their name`() {
        let (name, cookie) = (scene.cookieName(), scene.begin().cookie)
        func outcome(after others: Int) -> String {
            let wrong = String(repeating: "\(name)=\(String(repeating: "0", count: 80)); ", count: others)
            return scene.admit("GET /status", ["Cookie: \(wrong)\(name)=\(cookie)"]).summary
        }
        #expect([0, 15, 16, 300].map(outcome) == ["serve", "serve", "401 unauthorized", "401 unauthorized"])
    }

    @Test mutating func `give way to a token that is shown`() {
        let field = "Cookie: \(scene.cookieName())=\(scene.begin().cookie)"
        #expect(
            scene.admit("GET /status", [field, "Authorization: Bearer wrong"]).summary == "401 unauthorized"
        )
        #expect(scene.admit("GET /status?access_token=wrong", [field]).summary == "401 unauthorized")
        // A proxy's own, which it passes on.
        #expect(scene.admit("GET /status", [field, "Authorization: Basic eDp5"]).summary == "serve")
    }

    @Test(arguments: [
        ([], "serve"), (["Sec-Fetch-Site: same-origin"], "serve"), (["Sec-Fetch-Site: none"], "serve"),
        (["Origin: http://localhost:8080"], "serve"),
        (["Origin: http://localhost:8080", "Sec-Fetch-Site: same-origin"], "serve"),
        // Behind a proxy that gives another Host the browser knows better.
        (["Origin: https://app.example", "Sec-Fetch-Site: same-origin"], "serve"),
        (["Sec-Fetch-Site: same-site"], "403 origin-not-allowed"),
        (["Origin: http://localhost:3000"], "401 unauthorized"),
        (["Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"], "401 unauthorized"),
        (["Origin: https://app.example"], "401 unauthorized"),
        (["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-site"], "403 origin-not-allowed"),
        (["Sec-Fetch-Site: cross-site"], "403 origin-not-allowed"),
        (["Origin: http://localhost:4000"], "403 origin-not-allowed"),
        (["Origin: http://localhost:4000", "Sec-Fetch-Site: same-origin"], "403 origin-not-allowed"),
    ])
    func `are of use to the bridge's own page alone`(fields: [String], expected: String) {
        var scene = scene
        let cookie = "Cookie: \(scene.cookieName())=\(scene.begin().cookie)"
        for line in ["GET /events", "POST /messages", "POST /connect"] {
            #expect(scene.admit(line, fields + [cookie]).summary == expected)
        }
    }

    @Test(arguments: ["POST", "DELETE"])
    func `begin and end at the bridge's own page alone`(method: String) {
        let bearer = "Authorization: Bearer alpha"
        func outcome(_ fields: String...) -> String {
            scene.admit("\(method) /v1/session", [bearer] + fields).summary
        }
        #expect(outcome() == "serve")
        #expect(outcome("Origin: http://localhost:8080") == "serve")
        #expect(outcome("Origin: http://localhost:3000") == "403 origin-not-allowed")
        #expect(outcome("Sec-Fetch-Site: same-site") == "403 origin-not-allowed")
    }

    @Test mutating func `begin with a token, not with another session`() {
        let cookie = "Cookie: \(scene.cookieName())=\(scene.begin().cookie)"
        #expect(scene.admit("POST /v1/session", [cookie]).summary == "401 unauthorized")
        #expect(scene.admit("POST /v1/session", [cookie, "Authorization: Bearer beta"]).summary == "serve")
        #expect(scene.admit("DELETE /v1/session", [cookie]).summary == "serve")
    }

    @Test mutating func `are over when their time is`() {
        let first = scene.begin(lasting: .seconds(10))
        scene.now += .seconds(5)
        let second = scene.begin(lasting: .seconds(10))
        #expect(scene.table.nextDue == Instant(nanoseconds: 10_000_000_000))
        #expect(first.session.end == WallTime(millisecondsSince1970: 10_000))
        func known() -> [Bool] { [first, second].map { scene.table.session(of: [$0.cookie]) != nil } }
        let tooEarly = scene.table.expire(at: Instant(nanoseconds: 9_999_999_999))
        #expect(!tooEarly)
        #expect(known() == [true, true])
        let inTime = scene.table.expire(at: Instant(nanoseconds: 10_000_000_000))
        #expect(inTime)
        #expect(known() == [false, true])
        scene.table.end(second.session.key)
        #expect(known() == [false, false])
        #expect(scene.table.count == 0 && scene.table.nextDue == nil)
    }

    @Test mutating func `of one token make room for each other, and for no others`() {
        let other = scene.begin(1)
        var begun = (0..<SessionTable.mostPerToken).map { _ in scene.begin() }
        #expect(begun.allSatisfy { $0.ended == nil })
        for _ in 0..<3 {
            let next = scene.begin()
            #expect(next.ended == begun.removeFirst().session.key)
            begun.append(next)
        }
        #expect(begun.allSatisfy { scene.table.session(of: [$0.cookie]) != nil })
        #expect(scene.table.session(of: [other.cookie]) != nil)
        #expect(scene.table.count == SessionTable.mostPerToken + 1)
    }

    @Test mutating func `have all that their token has now, and end with it`() {
        let cookie = "Cookie: \(scene.cookieName())=\(scene.begin(1).cookie)"
        func outcomes() -> [String] {
            ["GET /v1/connections/b", "POST /v1/connections/b/connect"].map {
                scene.admit($0, [cookie]).summary
            }
        }
        #expect(outcomes() == ["serve", "403 forbidden"])
        scene.tokens[1].scopes = [.read, .admin]
        scene.tokens[1].name = "renamed"
        let hasEnded = scene.table.keep(of: scene.tokens)
        #expect(!hasEnded)
        #expect(outcomes() == ["serve", "serve"])
        // The same name with another value is another token.
        scene.tokens[1].secret = Secret("gamma")
        #expect(outcomes() == ["401 unauthorized", "401 unauthorized"])
        let hasEndedNow = scene.table.keep(of: scene.tokens)
        #expect(hasEndedNow)
        #expect(scene.table.count == 0)
        scene.tokens[1].secret = Secret("beta")
        #expect(outcomes() == ["401 unauthorized", "401 unauthorized"])
    }

    @Test mutating func `and tokens that are not as they were are not known any more`() {
        let begun = scene.begin()
        let (all, viewer) = (scene.tokens[0], scene.tokens[1])
        let callers: [Caller] = [.anonymous, .token(all), .token(viewer), .session(begun.session.key, all)]
        func known(_ change: (inout SessionScene) -> Void) -> [Bool] {
            var changed = scene
            change(&changed)
            let (gate, table) = (changed.gate(), changed.table)
            return callers.map { gate.stillKnows($0, sessions: table) }
        }
        #expect(known { _ in } == [false, true, true, true])
        #expect(known { $0.tokens = [] } == [true, false, false, false])
        #expect(known { $0.tokens.removeFirst() } == [false, false, true, false])
        #expect(known { $0.tokens[0].scopes = [.send] } == [false, false, true, false])
        #expect(known { $0.tokens[1].connections = [NamePattern("a")] } == [false, true, false, true])
        #expect(known { $0.table.end(begun.session.key) } == [false, true, true, false])
        #expect(known { $0.tokens.reverse() } == [false, true, true, true])
    }

    @Test func `have cookies that cannot be guessed`() {
        var scene = scene
        let cookies = (0..<SessionTable.mostPerToken).map { _ in scene.begin().cookie }
        #expect(Set(cookies).count == cookies.count)
        #expect(Set(cookies.map { $0.dropFirst(16) }).count == cookies.count)
        #expect(cookies.allSatisfy { $0.utf8.count == 80 })
    }

    @Test mutating func `never show`() {
        let begun = scene.begin()
        var dumped = ""
        dump(begun.session, to: &dumped)
        dump(scene.table, to: &dumped)
        #expect(!dumped.contains(begun.cookie.dropFirst(16)))
        #expect(!dumped.contains("alpha"))
    }
}
