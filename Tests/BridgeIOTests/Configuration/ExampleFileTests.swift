import BridgeCore
import BridgeIO
import Testing
import WebSocketProtocol
import WebSocketTestSupport

/// `config/wsbridge.yaml`, with and without the parts that are commented out.
private enum Example {
    static let text = file("config/wsbridge.yaml")

    /// A file of this project; empty if it cannot be read.
    static func file(_ path: String) -> String {
        let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let bytes = try? ConfigurationFiles.local().read("\(root)/\(path)", 1 << 20)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// With the lines that begin with one of the marks taken out of their comments.
    static func text(with marks: [String]) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            marks.contains { line.hasPrefix($0) } ? "  " + line.dropFirst(2) : String(line)
        }.joined(separator: "\n")
    }

    /// The paths of all keys, where a connection's name is `*` and elements of lists are not numbered.
    static func paths(_ node: ConfigurationNode, below path: String = "") -> Set<String> {
        switch node.content {
        case .scalar, .unknown: return []
        case .sequence(let elements):
            return elements.reduce(into: []) { $0.formUnion(paths($1, below: path)) }
        case .mapping(let members):
            return members.reduce(into: []) { all, member in
                let key = path == "connections" ? "*" : member.key
                let place = path.isEmpty ? key : "\(path).\(key)"
                all.insert(place)
                all.formUnion(paths(member.value, below: place))
            }
        }
    }
}

@Suite struct `The example file` {
    private let scene = ConfigurationScene(
        files: ["conf/cert.pem": "", "conf/key.pem": ""],
        environment: ["OPS_TOKEN": "s3cret"]
    )

    @Test func `says nothing but the defaults`() throws {
        let configuration = try scene.configuration(Example.text)
        var defaults = BridgeConfiguration()
        defaults.http.publicDirectory.base = "conf"
        #expect(configuration.http == defaults.http)
        #expect(configuration.memory == defaults.memory)
        #expect(configuration.history == defaults.history)
        #expect(
            configuration.connections == [
                "default": ConnectionConfiguration(url: try WebSocketURL("wss://example.org/feed"))
            ]
        )
    }

    @Test func `has every key of the schema and no other`() throws {
        let tree = try YAMLReader.read(Array(Example.text(with: ["#+", "#~"]).utf8)).root
        let known = Set(ConfigurationSchema.keys.map(\.path))
        let written = Example.paths(tree)
        #expect(known.subtracting(written) == [])
        let free =
            ["connections.*.url.http.headers."]
            + ["send", "expect", "capture", "when", "reply"].flatMap { key in
                ["connections.*.onOpen.\(key).", "connections.*.rules.\(key)."]
            }
        #expect(written.subtracting(known).filter { path in !free.contains { path.hasPrefix($0) } } == [])
    }

    @Test func `has examples that are right`() throws {
        let configuration = try scene.configuration(Example.text(with: ["#+"]))
        #expect(configuration.http.tokens == [AccessToken(name: "ops", secret: Secret("s3cret"))])
        #expect(configuration.http.tls?.certificateFile == "conf/cert.pem")
        let settings = try #require(configuration.connections["default"]?.settings)
        #expect(settings.rate == RateSettings(messages: 5, per: .seconds(1)))
        #expect((settings.onOpen.count, settings.rules.count) == (3, 3))
        #expect(settings.captured == ["session"])
    }

    @Test func `marks exactly what is not available`() {
        let refused = scene.complaints(Example.text(with: ["#~"]))
        let keys = refused.map { $0.split(separator: ": ")[1].replacing(".default.", with: ".*.") }
        #expect(refused.allSatisfy { $0.contains("is not available in this version") })
        #expect(keys == [])
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `may be changed in any way and still gives a configuration or errors with lines`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let original = Array(Example.text(with: ["#+"]).utf8)
        for _ in 0..<25 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes, &random) }
            // A carriage return ends a line as well, where one got in.
            let lines = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
            let files = ConfigurationFiles(
                read: { _, _ throws(ConfigurationFiles.Unreadable) in bytes },
                parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
            )
            do throws(StartError) {
                let words = ["check", "--config", "w.yaml"]
                _ = try Invocation(arguments: words, environment: ["OPS_TOKEN": "t"], files: files)
            } catch {
                #expect(!error.complaints.isEmpty)
                #expect(error.complaints.allSatisfy { (1...lines).contains($0.line ?? 1) })
            }
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let pieces = [
            "\t", "  ", "\n", ": ", "- ", "[", "]", "{", "}", "&a ", "*a", "<<: *a", "!x ", "\"", "'", "#",
            "|",
            "---\n", "null", "-1", "99999999999999999999", "1e9", "${", "${X}", "${file:x}", "é", "\u{0}",
            "%",
        ]
        let start = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, start + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes.removeSubrange(start..<end)
        case 1:
            bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
        case 2: bytes.replaceSubrange(start..<end, with: [UInt8.random(in: 0...255, using: &random)])
        case 3: bytes.removeSubrange(start...)
        default: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: start)
        }
    }
}
