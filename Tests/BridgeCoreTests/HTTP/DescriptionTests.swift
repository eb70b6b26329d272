import BridgeCore
import FoundationEssentials
import Testing

/// `openapi.yaml`, read as text: its paths stand two spaces in, their methods four.
private struct Description {
    struct Path {
        var text: String
        /// Under `/v1/connections/{connection}` as well as at the root.
        var isOfConnection = false
        var methods: Set<String> = []

        /// The decoded paths that it stands for, with a name for each variable.
        var examples: [[String]] {
            let segments = text.split(separator: "/").map { $0.hasPrefix("{") ? "default" : String($0) }
            return isOfConnection ? [segments, ["v1", "connections", "default"] + segments] : [segments]
        }
    }

    let text: String
    private(set) var paths: [Path] = []

    init() throws {
        var folders = #filePath.split(separator: "/")
        folders.removeLast(4)
        text = try String(contentsOfFile: "/\(folders.joined(separator: "/"))/openapi.yaml", encoding: .utf8)
        for line in text.split(separator: "\n") {
            if let match = line.wholeMatch(of: #/  (/[^ ]*):/#) {
                paths.append(Path(text: String(match.output.1)))
            } else if line.hasPrefix("    servers: ") {
                paths[paths.count - 1].isOfConnection = true
            } else if let match = line.wholeMatch(of: #/    (get|post|put|delete):/#) {
                paths[paths.count - 1].methods.insert(match.output.1.uppercased())
            }
        }
    }

    /// The whole lines that a pattern matches, each by its one capture.
    func captures(_ pattern: Regex<(Substring, Substring)>) -> [String] {
        text.split(separator: "\n").compactMap { $0.wholeMatch(of: pattern).map { String($0.output.1) } }
    }
}

@Suite struct `The description of the API` {
    private let description: Description
    private var files = PublicFiles()

    init() throws {
        description = try Description()
        try files.add([PublicFiles.front], [])
        files.add(description: [])
    }

    @Test func `has every resource, and no path that leads to none`() throws {
        var found: [Endpoint.Resource] = []
        for example in description.paths.flatMap(\.examples) {
            found.append(try Endpoint(path: example, files: files).resource)
        }
        #expect(Set(found) == Set(Endpoint.Resource.allCases))
    }

    @Test func `names both addresses of what belongs to a connection`() throws {
        for path in description.paths where path.isOfConnection {
            let resources = try path.examples.map { try Endpoint(path: $0, files: files).resource }
            #expect(Set(resources).count == 1, "\(path.text)")
        }
        for path in description.paths where !path.isOfConnection && path.text != "/" {
            let below = ["v1", "connections", "default"] + path.examples[0]
            #expect(throws: Problem.self, "\(path.text)") { try Endpoint(path: below, files: files) }
        }
    }

    @Test func `has the methods that are answered`() throws {
        for path in description.paths {
            let allow = try Endpoint(path: path.examples[0], files: files).resource.allow(dynamic: true)
            let answered = Set(allow.split(separator: ",").map { $0.filter { $0 != " " } })
            // These two are described once for all.
            #expect(path.methods == answered.subtracting(["HEAD", "OPTIONS"]), "\(path.text)")
        }
    }

    @Test func `has every problem, with its status and title, and no other`() {
        let rows = ProblemKind.allCases.map { "`\($0.rawValue)` | \($0.status) | \($0.title)" }
        #expect(description.captures(#/ +\| (`[a-z0-9-]+` \| .*) \|/#) == rows)
        let types = ProblemKind.allCases.map { "urn:wsbridge:problem:\($0.rawValue)" }
        #expect(description.captures(#/ +- (urn:wsbridge:problem:.*)/#) == types)
    }
}
