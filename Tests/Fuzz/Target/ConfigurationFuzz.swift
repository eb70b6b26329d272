import BridgeCore
import BridgeIO
import WebSocketProtocol

/// A configuration file, and the same bytes as what a client wants a connection to be.
///
/// What is taken can be shown, and what is shown can be read. What is refused is told, each in a line of its own and of
/// a line that the file has.
func fuzzConfiguration(_ bytes: [UInt8], setup: UInt8) {
    let files = ConfigurationFiles(of: bytes)
    let environment = ["NAME": setup & 1 == 0 ? "value" : "ws://h/", "EMPTY": ""]
    do throws(StartError) {
        let arguments = ["check", "--config", ConfigurationFiles.fuzzed]
        guard
            case .check(let text) = try Invocation(
                arguments: arguments,
                environment: environment,
                files: files
            )
        else { preconditionFailure("another command") }
        precondition((try? YAMLReader.read(Array(text.utf8))) != nil, "what check shows is no YAML")
    } catch {
        checkComplaints(error, lines: lineCount(bytes))
    }
    do throws(Problem) {
        _ = try ConnectionConfiguration(ofClient: bytes, files: files)
    } catch {
        precondition(error.kind.status == 400, "settings are refused for another reason")
    }
}

private func checkComplaints(_ error: StartError, lines: Int) {
    precondition(!error.complaints.isEmpty, "refused without a reason")
    for complaint in error.complaints {
        precondition(!complaint.text.isEmpty, "a complaint says nothing")
        let breaks = complaint.text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x1B || $0 == 0 }
        precondition(!breaks, "a complaint does not keep to its line")
        if let line = complaint.line { precondition(1...max(lines, 1) ~= line, "there is no such line") }
    }
}

/// At most so many, by whatever breaks lines in YAML.
private func lineCount(_ bytes: [UInt8]) -> Int {
    1 + bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 }
}

extension ConfigurationFiles {
    fileprivate static let fuzzed = "fuzzed.yaml"

    /// Of all files only this one is there, and the presets of the program.
    fileprivate init(of bytes: [UInt8]) {
        self.init { (path, _) throws(Unreadable) in
            guard path == ConfigurationFiles.fuzzed else { throw Unreadable("no such file", isMissing: true) }
            return bytes
        } parse: { (bytes) throws(ConfigurationFaults) in
            try YAMLReader.read(bytes)
        }
        builtInPresets = { BuiltInPresets.all }
    }
}
