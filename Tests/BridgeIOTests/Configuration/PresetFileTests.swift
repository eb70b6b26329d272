import BridgeCore
import BridgeIO
import Foundation
import Testing

/// The files in `config/presets/`, whichever there are.
@Suite struct `The presets of the project` {
    private static let folder =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/config/presets"

    /// Their texts, by name.
    private static var files: [String: [UInt8]] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var files: [String: [UInt8]] = [:]
        for name in names {
            guard let content = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
            files[name.replacing(/\.yaml$/, with: "")] = Array(content)
        }
        return files
    }

    @Test func `are inside the program as they are`() {
        #expect(BuiltInPresets.all == Self.files)
    }

    @Test(arguments: files.keys.sorted())
    func `are right, and stay the same when they are shown`(name: String) throws {
        let text = try #require(String(validating: Self.files[name] ?? [], as: UTF8.self))
        var scene = ConfigurationScene(flags: ["--preset", name], builtInPresets: [name: text])
        let shown = try scene.checked("")
        scene.builtInPresets = [name: shown]
        #expect(try scene.checked("") == shown)
        scene.flags.append("--explain")
        #expect(try scene.checked("").hasPrefix("preset \(name) (built-in presets/\(name).yaml)\n"))
    }

    @Test(arguments: files.keys.sorted())
    func `need no more than their parameters and a URL`(name: String) throws {
        let text = try #require(String(validating: Self.files[name] ?? [], as: UTF8.self))
        let tree = try YAMLReader.read(Array(text.utf8)).root
        guard case .mapping(let members) = tree.content else { return }
        var given = ""
        if case .mapping(let parameters)? = members.first(where: { $0.key == "parameters" })?.value.content {
            // Some are JSON, others stand in texts.
            given = parameters.map { "\($0.key): '11'" }.joined(separator: ", ")
        }
        let url = members.contains { $0.key == "url" } ? "" : "url: ws://h, "
        let scene = ConfigurationScene(builtInPresets: [name: text])
        let yaml = "connections: { a: { preset: \(name), \(url)parameters: { \(given) } } }"
        #expect(scene.complaints(yaml) == [])
    }
}
