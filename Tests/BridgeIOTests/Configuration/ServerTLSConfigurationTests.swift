import BridgeCore
import BridgeIO
import Testing

@Suite struct `The certificate for clients` {
    private let scene = ConfigurationScene(files: ["conf/cert.pem": "", "conf/key.pem": "", "/b.pem": ""])

    private func http(_ members: String) -> String {
        "http: { \(members) }\n" + ConfigurationScene.connection("")
    }

    @Test func `is what the section names, as seen from the file's folder`() throws {
        let tls = try scene.configuration(http("tls: { certificate: cert.pem, key: /b.pem }")).http.tls
        #expect((tls?.certificateFile, tls?.keyFile) == ("conf/cert.pem", "/b.pem"))
        #expect(try scene.configuration(http("tls: null")).http.tls == nil)
        #expect(try scene.configuration(http("tls: { certificate: cert.pem }")).http.tls?.keyFile == nil)
    }

    @Test(arguments: [
        ("tls: {}", ["1: http.tls: needs certificate"]),
        ("tls: { key: key.pem }", ["1: http.tls: needs certificate"]),
        (
            "tls: { certificate: gone.pem, key: gone.pem }",
            [
                "1: http.tls.certificate: conf/gone.pem cannot be read: no such file or directory",
                "1: http.tls.key: conf/gone.pem cannot be read: no such file or directory",
            ]
        ),
        (
            "tls: { certificate: null, ca: cert.pem }",
            [
                "1: http.tls.certificate: expected the path of a file, not null",
                "1: http.tls.ca: unknown key; there are: certificate, key, keyPassword",
            ]
        ),
    ])
    func `is told of where it is wrong`(members: String, complaints: [String]) {
        #expect(scene.complaints(http(members)) == complaints)
    }

    @Test func `leaves the page and the address to others`() {
        let both = scene.complaints(http("socketMode: 888, listen: 'unix:@a', tls: {}"))
        #expect(both.count == 3)
        #expect(
            both.contains { $0.hasPrefix("1: http.socketMode: expected the permissions of a file in octal") }
        )
        #expect(both.contains { $0.hasPrefix("1: http.listen: expected unix:PATH with the path of a file") })
    }

    private func endpoint(_ words: [String], _ yaml: String) throws -> BridgeEndpoint? {
        let files = ConfigurationFiles(
            read: { path, _ throws(ConfigurationFiles.Unreadable) in
                guard path != "conf/key.pem" else { throw .init("permission denied") }
                return path == "conf/w.yaml" ? Array(yaml.utf8) : []
            },
            parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
        )
        switch try Invocation(arguments: words + ["--config", "conf/w.yaml"], environment: [:], files: files)
        {
        case .health(let endpoint): return endpoint
        case .send(let order): return order.endpoint
        case .tail(let order): return order.endpoint
        case .serve, .check, .demo, .version, .help: return nil
        }
    }

    @Test func `is what commands know the bridge by, though its key is not theirs to read`() throws {
        let yaml = http("listen: 'a:1', tls: { certificate: cert.pem, key: key.pem }")
        #expect(try endpoint(["send", "x"], yaml)?.peer == .holder(ofFirstIn: "conf/cert.pem"))
        #expect(try endpoint(["tail", "--listen", ":2"], yaml)?.peer == .holder(ofFirstIn: "conf/cert.pem"))
        #expect(try endpoint(["health"], yaml)?.peer == .anybody)
        #expect(try endpoint(["send", "x"], http("listen: 'a:1'"))?.peer == nil)
    }
}
