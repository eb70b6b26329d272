import BridgeCore
import Foundation
import Testing

@testable import BridgeIO

/// A folder that goes with this object.
private final class Folder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(component: "wsbridge-page-\(UUID())")
        path = url.path()
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ content: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(content.utf8).write(to: file)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }
}

@MainActor @Suite struct `The page's files` {
    private func find(_ name: String, base: String? = nil, executableFolder: String? = nil) throws
        -> FoundPage
    {
        try FoundPage(PublicDirectory(name: name, base: base), executableFolder: executableFolder)
    }

    private func reasons(_ name: String, base: String? = nil) -> StartError? {
        do {
            _ = try find(name, base: base)
            return nil
        } catch {
            return error as? StartError
        }
    }

    @Test func `are read with those in folders below, less what is hidden or no file`() throws {
        let folder = try Folder()
        try folder.write("index.html", "front")
        try folder.write("assets/deep/a.js", "a")
        try folder.write("empty.txt", "")
        try folder.write(".hidden", "x")
        try folder.write(".git/config", "x")
        try folder.link("linked.css", to: "assets/deep/a.js")
        #expect(unsafe mkfifo("\(folder.path)/pipe", 0o600) == 0)
        let page = try find(folder.path)
        #expect(page.place == folder.path)
        #expect(page.complaints == [])
        #expect(page.files[[]]?.content == Array("front".utf8))
        #expect(page.files[["assets", "deep", "a.js"]]?.content == Array("a".utf8))
        #expect(page.files[["linked.css"]]?.content == Array("a".utf8))
        #expect(page.files[["empty.txt"]]?.content == [])
        for path in [[".hidden"], [".git", "config"], ["pipe"], ["assets"]] {
            #expect(page.files[path] == nil)
        }
    }

    @Test func `may link in a circle`() throws {
        let folder = try Folder()
        try folder.write("index.html", "front")
        try folder.link("again", to: ".")
        #expect(try find(folder.path).files.hasFront)
    }

    @Test func `are those beside the program where there are none near`() throws {
        let folder = try Folder()
        try folder.write("share/wsbridge/public/index.html", "beside")
        try folder.write("bin/wsbridge", "")
        let page = try find("public", base: "\(folder.path)/none", executableFolder: "\(folder.path)/bin")
        #expect(page.files[[]]?.content == Array("beside".utf8))
        #expect(page.complaints == [])
    }

    @Test func `are those inside the program where there are no others`() throws {
        let page = try find("public", base: "/nonexistent", executableFolder: "/nonexistent")
        #expect(page.place == "built-in")
        #expect(page.files.hasFront)
        #expect(page.files[["app.js"]] != nil)
        #expect(page.complaints == [])
    }

    @Test func `are not those of a folder without a front page, which is said`() throws {
        let folder = try Folder()
        try folder.write("public/other.html", "x")
        let page = try find("public", base: folder.path)
        #expect(page.place == "built-in")
        #expect(page.complaints == ["\(folder.path)/public has no index.html"])
    }

    @Test func `are not those of a folder with too many or too large ones, which is said`() throws {
        let folder = try Folder()
        try folder.write("public/index.html", "front")
        for index in 0..<64 { try folder.write("public/z/\(index)", "") }
        let many = try find("public", base: folder.path)
        #expect(many.place == "built-in")
        #expect(many.complaints.first?.contains("more than 64 files") == true)
        try folder.write("large/public/index.html", String(repeating: "x", count: 4 << 20 + 1))
        let large = try find("public", base: "\(folder.path)/large")
        #expect(large.place == "built-in")
        #expect(large.complaints.first?.contains("more than 4 MiB") == true)
    }

    @Test func `must be where somebody said they are`() throws {
        let folder = try Folder()
        let missing = try #require(reasons("\(folder.path)/none"))
        #expect(missing.exitCode == .unreadableFile)
        #expect(
            missing.lines == [
                "wsbridge: publicDirectory: there is no page: \(folder.path)/none does not exist"
            ]
        )
        let empty = try #require(reasons(folder.path))
        #expect(empty.exitCode == .unreadableFile)
        #expect(empty.lines.first?.contains("has no index.html") == true)
        try folder.write("file", "x")
        let file = try #require(reasons("\(folder.path)/file"))
        #expect(file.lines.first?.contains("Not a directory") == true)
    }
}
