import BridgeCore
import Testing

@Suite struct `Routes to files` {
    private func admit(_ line: String, _ fields: String..., token: String? = nil) throws -> Admission {
        var files = PublicFiles()
        for path in [["index.html"], ["app.js"], ["assets", "logo.svg"], ["status"], ["healthz"]] {
            try files.add(path, [1])
        }
        let gate = gate(files: files) { settings in
            if let token { settings.tokens = [AccessToken(name: "t", secret: Secret(token))] }
        }
        return gate.admit(request(line, fields: fields), connections: ["default"])
    }

    @Test(arguments: [
        ("GET /", Route.file(path: [])), ("HEAD /", .file(path: [])),
        ("GET /index.html", .file(path: ["index.html"])), ("GET /app%2Ejs", .file(path: ["app.js"])),
        ("GET /assets/logo.svg", .file(path: ["assets", "logo.svg"])),
        ("GET /?access_token=x", .file(path: [])),
        ("GET /status", .status(connection: "default")), ("GET /healthz", .health),
    ])
    func `lead to files that are known and not in the way of others`(line: String, route: Route) throws {
        #expect(try admit(line).route == route)
    }

    @Test(arguments: [
        ("GET /app.js/", "404 not-found"), ("GET //app.js", "404 not-found"), ("GET //", "404 not-found"),
        ("GET /APP.JS", "404 not-found"), ("GET /assets", "404 not-found"), ("GET /assets/", "404 not-found"),
        ("GET /assets%2Flogo.svg", "404 not-found"), ("GET /app.js%00", "400 invalid-target"),
        ("GET /../app.js", "400 invalid-target"), ("GET /%2e%2e/app.js", "400 invalid-target"),
        ("GET /assets/../app.js", "400 invalid-target"), ("GET /..%2fapp.js", "404 not-found"),
        ("POST /other.js", "404 not-found"), ("POST /app.js", "405 method-not-allowed"),
        ("DELETE /", "405 method-not-allowed"), ("GET /?x=1", "400 invalid-parameter"),
        ("OPTIONS /app.js", "204"), ("OPTIONS /other.js", "404 not-found"),
    ])
    func `lead nowhere else`(line: String, summary: String) throws {
        #expect(try admit(line).summary == summary)
    }

    @Test func `list the methods of files`() throws {
        #expect(try admit("OPTIONS /").field("Allow") == "GET, HEAD, OPTIONS")
        #expect(try admit("POST /").field("Allow") == "GET, HEAD, OPTIONS")
    }

    @Test(arguments: [("GET /", "serve"), ("GET /app.js", "serve"), ("GET /status", "401 unauthorized")])
    func `need no token, wrong ones included`(line: String, summary: String) throws {
        #expect(try admit(line, token: "s3cret").summary == summary)
        #expect(try admit(line, "Authorization: Bearer wrong", token: "s3cret").summary == summary)
    }

    @Test(arguments: [
        (
            "GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
            "serve"
        ),
        ("GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], "403 origin-not-allowed"),
        (
            "GET /", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            "403 origin-not-allowed"
        ),
        ("GET /app.js", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], "403 origin-not-allowed"),
        ("GET /app.js", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors"], "serve"),
        ("GET /", ["Origin: https://evil.example"], "403 origin-not-allowed"),
    ])
    func `let other sites do no more than link to the page`(
        line: String,
        fields: [String],
        summary: String
    ) throws {
        var files = PublicFiles()
        try files.add(["index.html"], [1])
        try files.add(["app.js"], [1])
        let admission = gate(files: files).admit(request(line, fields: fields), connections: [])
        #expect(admission.summary == summary)
    }
}
