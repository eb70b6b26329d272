import Foundation
import Testing

/// `scripts/count-tests`, which decides whether a run without failures is good enough.
struct CountTestsTests {
    @Test(arguments: [
        #"<testsuite name="TestResults" errors="0" tests="4" failures="0" skipped="0" time="0.1">"#,
        #"<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="4"><testcase/>"#,
        #"<testsuite tests="4" skipped="0">\#n<testcase name="`a < b & "c"`()" />\#n</testsuite>"#,
    ])
    func `a report in which all tests ran is counted`(report: String) throws {
        #expect(try count(report) == "4\n")
    }

    @Test(arguments: [
        #"<testsuite name="TestResults" errors="0" tests="4" failures="0" skipped="1" time="0.1">"#,
        #"<testsuite name="pytest" errors="0" failures="0" skipped="12" tests="4">"#,
        #"<testsuite name="TestResults" errors="0" tests="0" failures="0" skipped="0" time="0.1">"#,
        #"<testsuite name="pytest">"#,
        "<testsuites></testsuites>",
        "",
    ])
    func `a report with skipped tests, or with none at all, is refused`(report: String) throws {
        #expect(try count(report) == nil)
    }

    /// What the script prints about a report, or nil if it refuses it.
    private func count(_ report: String) throws -> String? {
        let file = FileManager.default.temporaryDirectory.appending(component: "\(UUID()).xml")
        try Data(report.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        let output = Pipe()
        let process = Process()
        process.executableURL = URL(filePath: "\(Project.root)/scripts/count-tests")
        process.arguments = [file.path()]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: printed, as: UTF8.self) : nil
    }
}
