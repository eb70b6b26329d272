import Testing

/// The rules, applied to this project as it is.
struct ProjectTests {
    private let sources: [SourceText]

    init() throws {
        sources = try Project.sources.get()
    }

    @Test(arguments: ProjectRules.pureImports)
    func `pure targets import neither C, nor Foundation, nor threads`(rule: ImportRule) {
        #expect(sources.contains { $0.path.hasPrefix(rule.folder) }, "nothing is left to check")
        #expect(sources.flatMap { rule.findings(in: $0) } == [])
    }

    @Test(arguments: ProjectRules.doerImports)
    func `every C library is used by the folder that wraps it and by no other`(rule: ImportRule) {
        #expect(sources.flatMap { rule.findings(in: $0) } == [])
    }

    @Test(arguments: ProjectRules.libuvCalls)
    func `libuv is called by the loop alone`(rule: WordRule) throws {
        let findings = try sources.flatMap { try rule.findings(in: $0) }
        #expect(findings == [])
    }

    @Test func `every folder of BridgeIO has said which libraries it wraps`() {
        let known = Set(ProjectRules.doerImports.map(\.folder))
        let unknown = sources.map(\.path).filter { path in
            path.hasPrefix("Sources/BridgeIO/") && !known.contains { path.hasPrefix($0) }
        }
        #expect(unknown == [])
    }

    @Test(arguments: ProjectRules.purity)
    func `pure targets read no clock, draw no randomness, start nothing and print nothing`(
        rule: WordRule
    ) throws {
        let findings = try sources.flatMap { try rule.findings(in: $0) }
        #expect(findings == [])
    }

    @Test func `the monotonic clock only is read, but for what people are shown`() throws {
        let findings = try sources.flatMap { try ProjectRules.timeOfDay.findings(in: $0) }
        #expect(findings == [])
    }

    @Test func `whatever switches off a check of the compiler says why`() throws {
        let findings = try sources.flatMap { try ProjectRules.escapes.findings(in: $0) }
        #expect(findings == [])
    }

    @Test func `the image is built from all that the package names`() throws {
        let parts = try Project.file("Package.swift").lines.flatMap { $0.split(separator: "\"") }
        let named = parts.filter { $0.hasPrefix("Benchmarks/") }
        #expect(!named.isEmpty)
        let sent = try Project.file(".dockerignore").lines
        #expect(named.filter { !sent.contains("!" + $0) } == [])
    }

    @Test func `no source file is longer than one idea`() {
        #expect(sources.flatMap { ProjectRules.lengthFindings(in: $0) } == [])
    }

    @Test func `no test is disabled, excused or asleep`() throws {
        let tests = try Project.files(below: "Tests", ending: ".swift")
        let findings = try tests.flatMap { try ProjectRules.honestTests.findings(in: $0) }
        #expect(findings == [])
    }

    @Test func `pages name only make targets that exist`() throws {
        let makefile = try Project.file("Makefile")
        #expect(try Project.pages().flatMap { PageRule.unknownTargets(in: $0, makefile: makefile) } == [])
    }

    @Test func `links between pages lead somewhere`() throws {
        #expect(try Project.pages().flatMap { PageRule.deadLinks(in: $0, exists: Project.exists) } == [])
    }

    @Test func `the index of decisions lists every record`() throws {
        let index = try Project.file("docs/decisions/README.md").lines.joined(separator: "\n")
        let records = try Project.files(below: "docs/decisions", ending: ".md")
            .compactMap { $0.path.split(separator: "/").last }
            .filter { $0 != "README.md" }
        #expect(!records.isEmpty)
        #expect(records.filter { !index.contains("(\($0))") } == [])
    }

    @Test func `the image is built with every library that the build needs`() throws {
        let needed = try Project.file("scripts/lib.sh").lines.joined(separator: "\n")
            .matches(of: #/"([a-z0-9-]+-dev): /#)
            .map(\.output.1)
        let recipe = Set(try Project.file("Dockerfile").lines.map { $0.filter { !" \\".contains($0) } })
        #expect(!needed.isEmpty)
        #expect(needed.filter { !recipe.contains(String($0)) } == [])
    }
}
