import BridgeCore
import BridgeIO

/// The command with a configuration file, on a machine that has these files and variables and no others.
struct ConfigurationScene {
    /// What the command was given as the file.
    static let path = "conf/w.yaml"

    var files: [String: String] = [:]
    var environment: [String: String] = [:]
    var flags: [String] = []
    /// What is wrong with the files of TLS, by the name of the file of authorities.
    var tlsFaults: [String: [TLSFileFault]] = [:]
    var memoryLimit: MemoryLimit?
    /// Why the page is not found in a folder.
    var missingPages: [String: String] = [:]
    /// By name.
    var builtInPresets: [String: String] = [:]
    var executableFolder: String?

    /// What becomes of the file.
    func run(_ yaml: String, as command: String = "serve") -> Result<Invocation, StartError> {
        let contents = files.merging([Self.path: yaml]) { given, _ in given }
        var files = ConfigurationFiles(
            read: { path, limit throws(ConfigurationFiles.Unreadable) in
                guard let text = contents[path] else {
                    throw .init("no such file or directory", isMissing: true)
                }
                guard text.utf8.count <= limit else { throw .init("it is too large") }
                return Array(text.utf8)
            },
            parse: { bytes throws(ConfigurationFaults) in try YAMLReader.read(bytes) }
        )
        files.tryTLS = { settings in settings.authorityFile.flatMap { tlsFaults[$0] } ?? [] }
        files.builtInPresets = { builtInPresets.mapValues { Array($0.utf8) } }
        files.executableFolder = executableFolder
        files.memoryLimit = { memoryLimit }
        files.findPage = { directory throws(ConfigurationFiles.Unreadable) in
            if let reason = missingPages[directory.name] { throw .init(reason) }
        }
        return Result { () throws(StartError) in
            try Invocation(
                arguments: [command, "--config", Self.path] + flags,
                environment: environment,
                files: files
            )
        }
    }

    /// What is wrong, one line each, without the file's name.
    func complaints(_ yaml: String) -> [String] {
        guard case .failure(let error) = run(yaml) else { return [] }
        return error.lines.map { line in
            line.hasPrefix(Self.path + ":") ? String(line.dropFirst(Self.path.utf8.count + 1)) : line
        }
    }

    func configuration(_ yaml: String) throws -> BridgeConfiguration {
        switch run(yaml) {
        case .success(.serve(let configuration)): return configuration
        case .success(let other): throw Unexpected(text: "\(other)")
        case .failure(let error): throw Unexpected(text: error.lines.joined(separator: "\n"))
        }
    }

    /// What `wsbridge check` prints.
    func checked(_ yaml: String) throws -> String {
        switch run(yaml, as: "check") {
        case .success(.check(let text)): return text
        case .success(let other): throw Unexpected(text: "\(other)")
        case .failure(let error): throw Unexpected(text: error.lines.joined(separator: "\n"))
        }
    }

    struct Unexpected: Error, CustomStringConvertible {
        var text: String
        var description: String { text }
    }

    /// A file with one connection that has this beside its URL, in flow style.
    static func connection(_ members: String) -> String {
        "connections: { default: { url: wss://example.org/feed, \(members) } }"
    }
}
