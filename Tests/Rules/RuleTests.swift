import Testing

/// The rules themselves, tried on small inputs that they must catch or let pass.
struct RuleTests {
    private let rule = ImportRule(folder: "Sources/Pure/", allowed: ["Allowed"])

    @Test(arguments: [
        "import Foundation",
        "  import Glibc",
        "package import CUV",
        "@preconcurrency import Dispatch",
        "@_spi(Inside) internal import Synchronization",
        "import struct Foundation.Date",
        "import Foundation.NSString",
        "let a = 1; import COpenSSL",
        "/* a */ import Foundation",
        "#if os(Linux)\nimport Glibc\n#endif",
        "import `CZlib`",
    ])
    func `an import is seen in every form`(text: String) {
        #expect(rule.findings(in: SourceText(path: "Sources/Pure/A.swift", text: text)).count == 1)
    }

    @Test(arguments: [
        "import Allowed",
        "package import struct Allowed.Thing",
        "// import Foundation",
        "/* import Foundation\nimport Glibc /* nested */\nimport CUV */",
        #"let text = "import Foundation""#,
        "let text = \"\"\"\n    import Foundation\n    \"\"\"",
        "let text = #\"\"\"\n    \"\"\"\n    import Foundation\n    \"\"\"#",
        #"let a = "\"", b = 1 // "; import Foundation"#,
        "let reimport = important",
    ])
    func `what is no forbidden import passes`(text: String) {
        #expect(rule.findings(in: SourceText(path: "Sources/Pure/A.swift", text: text)) == [])
    }

    @Test func `a finding names the file, the line and the module`() {
        let file = SourceText(path: "Sources/Pure/A.swift", text: "import Allowed\n\nimport Glibc\n")
        let report = rule.findings(in: file).map(\.description)
        #expect(report == ["Sources/Pure/A.swift:3: Sources/Pure/ must not import Glibc"])
    }

    @Test func `a rule leaves other folders alone`() {
        let file = SourceText(path: "Sources/PureNot/A.swift", text: "import Glibc")
        #expect(rule.findings(in: file) == [])
    }

    @Test(arguments: [
        "final class A: @unchecked Sendable {}",
        "let a = try! b()",
        "let a = b as! C",
        "nonisolated(unsafe) var a = 1",
        "fatalError(\"never\")",
        "let a = unsafeBitCast(b, to: C.self)",
        "/// Says what it is.\nlet a = try! b()",
        "// Too far away.\n\nlet a = try! b()",
        "let a = try! b(\"http://example.org\")",
    ])
    func `an escape without a reason is found`(text: String) throws {
        let file = SourceText(path: "Sources/A.swift", text: text)
        #expect(try ProjectRules.escapes.findings(in: file).count == 1)
    }

    @Test(arguments: [
        "let a = try! b()  // A literal; it cannot fail.",
        "// The pool frees it on the same thread.\nnonisolated(unsafe) var a = 1",
        "let text = \"try! it\"",
        "// try! is what we avoid here",
        "func fatalErrors() {}",
    ])
    func `an escape with a reason passes`(text: String) throws {
        let file = SourceText(path: "Sources/A.swift", text: text)
        #expect(try ProjectRules.escapes.findings(in: file) == [])
    }

    @Test(arguments: [
        "let now = ContinuousClock.now",
        "let now = Date()",
        "var generator = SystemRandomNumberGenerator()",
        "let delay = Double.random(in: 0...1)",
        "let first = list.shuffled()",
        "Task { run() }",
        "func f() async {}",
        "print(status)",
    ])
    func `an impurity is found`(text: String) throws {
        let file = SourceText(path: "Sources/BridgeCore/A.swift", text: text)
        #expect(try ProjectRules.purity.flatMap { try $0.findings(in: file) }.count == 1)
    }

    @Test(arguments: [
        "let delay = Double.random(in: 0...1, using: &generator)",
        "let delay = Double.random(in: (1 - jitter)...1, using: &generator)",
        "func date(now: WallTime) {}",
        "// No Task and no await here.",
        "footprint(of: list)",
    ])
    func `purity passes`(text: String) throws {
        let file = SourceText(path: "Sources/BridgeCore/A.swift", text: text)
        #expect(try ProjectRules.purity.flatMap { try $0.findings(in: file) } == [])
    }

    @Test(arguments: [
        "@Test(.disabled(reason)) func a() {}",
        "@Test(.enabled(if: isLinux)) func a() {}",
        "withKnownIssue { a() }",
        "try Test.cancel(reason)",
        "try await Task.sleep(for: .seconds(1))",
        "usleep(1000)",
    ])
    func `a test that is not one is found`(text: String) throws {
        let file = SourceText(path: "Tests/A.swift", text: text)
        #expect(try ProjectRules.honestTests.findings(in: file).count == 1)
    }

    @Test(arguments: ["uv_run(loop)", "let events = UV_READABLE.rawValue"])
    func `a call to libuv outside of the loop is found`(text: String) throws {
        let file = SourceText(path: "Sources/BridgeIO/Streams/A.swift", text: text)
        #expect(try ProjectRules.libuvCalls.flatMap { try $0.findings(in: file) }.count == 1)
    }

    @Test(arguments: [(ProjectRules.longestFile, 0), (ProjectRules.longestFile + 1, 1)])
    func `a file may be as long as the limit and no longer`(lines: Int, findings: Int) {
        let text = repeatElement("let a = 1", count: lines).joined(separator: "\n")
        #expect(ProjectRules.lengthFindings(in: SourceText(path: "A.swift", text: text)).count == findings)
    }
}
