/// Walks through the tree of a configuration file and gathers all that is wrong with it.
///
/// It knows where it stands, so that forms and fields need not: `inside` goes a step down and comes back.
struct ConfigurationReader {
    /// A scalar after its references were replaced.
    struct Scalar {
        var text: String
        /// `null`, `~` or nothing at all, unless that was quoted.
        var isNull: Bool
        /// The text stands in the file as it is.
        var isWritten: Bool
        /// Something of it is the value of a preset's parameter, which is never shown.
        var hasParameters: Bool
        /// Something of it stands for a value that nobody has given yet, so that it may be wrong.
        var hasStandIns: Bool
    }

    /// What a value may name that is outside of it.
    enum Reach: Sendable {
        /// Variables, files and sockets of this machine: whoever writes the configuration file runs the process.
        case machine
        /// Nothing: a client wrote it.
        case nothing
    }

    let reach: Reach
    /// As the user named it.
    let file: String
    let environment: [String: String]
    let files: ConfigurationFiles
    private(set) var path = ConfigurationPath()
    /// Bytes that references stood for.
    private var replaced = 0
    private(set) var complaints: [StartError.Complaint] = []
    /// What was complained about, and what that is in.
    private(set) var broken: Set<String> = []
    /// What was complained about itself.
    private var named: Set<String> = []
    /// Those of the preset of the connection that is being read.
    var parameters: PresetParameters?
    /// What was read of presets, as many connections may begin with the same; nil: it is of no use.
    var presets: [String: Preset?] = [:]
    /// What was tried of TLS, as many connections may name the same files.
    var triedTLS: [TLSSettings: [TLSFileFault]] = [:]
    /// Where each value stands that was come across.
    private(set) var positions: [String: ConfigurationNode.Position] = [:]

    init(file: String, environment: [String: String], files: ConfigurationFiles) {
        reach = .machine
        self.file = file
        self.environment = environment
        self.files = files
    }

    /// Reads what a client wrote; begins with what is wrong with its form.
    ///
    /// Of the files only the presets that are built in are read.
    init(ofClient faults: [ConfigurationFault], files: ConfigurationFiles) {
        reach = .nothing
        file = ""
        environment = [:]
        self.files = files
        for fault in faults { complain(fault, inPreset: nil) }
    }

    /// Begins with what is wrong with the form of the file.
    init(
        file: String,
        environment: [String: String],
        files: ConfigurationFiles,
        faults: [ConfigurationFault]
    ) {
        self.init(file: file, environment: environment, files: files)
        for fault in faults { complain(fault, inPreset: nil) }
    }

    /// In all values together, in bytes.
    private static let mostReplaced = 16 << 20

    // MARK: Moving about

    /// Does something one step further down.
    mutating func inside<Result>(
        _ key: String,
        at position: ConfigurationNode.Position? = nil,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        go(to: path.appending(key: key), position, body)
    }

    mutating func inside<Result>(
        _ index: Int,
        at position: ConfigurationNode.Position? = nil,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        go(to: path.appending(index: index), position, body)
    }

    mutating func go<Result>(
        to place: ConfigurationPath,
        _ position: ConfigurationNode.Position? = nil,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        let origin = path
        path = place
        if let position, positions[path.text] == nil { positions[path.text] = position }
        defer { path = origin }
        return body(&self)
    }

    /// Where the value stands that belongs here, if a file has it.
    var position: ConfigurationNode.Position? { positions[path.text] }

    // MARK: Complaining

    /// Remembers what is wrong with what stands at a place.
    mutating func complain(
        _ position: ConfigurationNode.Position,
        _ text: String,
        _ exitCode: ExitCode = .configuration
    ) {
        complain(position, about: path.text, text, exitCode)
    }

    /// Remembers what is wrong with the form of the file of a preset, or of the configuration.
    mutating func complain(_ fault: ConfigurationFault, inPreset preset: String?) {
        var position = ConfigurationNode.Position(line: fault.line, column: 1)
        position.preset = preset
        complain(position, about: fault.path ?? "", fault.text, .configuration)
    }

    private mutating func complain(
        _ position: ConfigurationNode.Position,
        about place: String,
        _ text: String,
        _ exitCode: ExitCode
    ) {
        let subject = place.isEmpty ? "" : place + ": "
        let file = position.preset ?? file
        complaints.append(StartError.Complaint(file: file, line: position.line, subject + text, exitCode))
        named.insert(place)
        markBroken(place)
    }

    /// What stands here is of no use, which was told elsewhere.
    mutating func markBroken() { markBroken(path.text) }

    private mutating func markBroken(_ place: String) {
        for end in place.indices where place[end] == "." || place[end] == "[" {
            broken.insert(String(place[..<end]))
        }
        broken.insert(place)
    }

    mutating func complain(_ node: ConfigurationNode, _ text: String) {
        complain(node.position, text)
    }

    /// Something is wrong with the value of a key here, or in it, so that nothing more can be said of it.
    func isBroken(_ key: String) -> Bool { broken.contains(path.appending(key: key).text) }

    /// Something is wrong with what stands here, or in it.
    var isBrokenHere: Bool { broken.contains(path.text) }

    /// Something is wrong with what stands here as a whole, so that not even what is missing can be told.
    var isBrokenAsWhole: Bool { named.contains(path.text) }

    // MARK: Values

    /// The members of a mapping, none for null; nil after complaining.
    mutating func members(of node: ConfigurationNode) -> [ConfigurationNode.Member]? {
        switch node.content {
        case .mapping(let members): return members
        case .scalar(let text, .plain) where Self.isNull(text): return []
        case .unknown: return nil
        case .scalar, .sequence:
            complain(node, "expected a mapping of keys to values, not \(node.kind)")
            return nil
        }
    }

    /// Whether it has members, or is empty as a mapping without any may be written.
    static func isSection(_ node: ConfigurationNode) -> Bool {
        switch node.content {
        case .mapping: true
        case .scalar(let text, .plain): isNull(text)
        case .scalar, .sequence, .unknown: false
        }
    }

    /// The keys of a mapping whose values are not null.
    func givenKeys(of node: ConfigurationNode) -> [String] {
        guard case .mapping(let members) = node.content else { return [] }
        return members.filter { !isNull($0.value) }.map(\.key)
    }

    /// The elements of a list, none for null, as it is left by whoever comments them all out; nil after complaining.
    mutating func elements(of node: ConfigurationNode) -> [ConfigurationNode]? {
        switch node.content {
        case .sequence(let elements): return elements
        case .scalar(let text, .plain) where Self.isNull(text): return []
        case .unknown: return nil
        case .scalar, .mapping:
            complain(node, "expected a list, not \(node.kind)")
            return nil
        }
    }

    /// A scalar with its references replaced; nil after complaining.
    ///
    /// In a template the value of a parameter is no template, and stays within the string of JSON that it stands in.
    mutating func scalar(
        _ node: ConfigurationNode,
        expecting expectation: String,
        isTemplate: Bool = false
    ) -> Scalar? {
        guard case .scalar(let written, let style) = node.content else {
            if node.isKnown { complain(node, "expected \(expectation), not \(node.kind)") }
            return nil
        }
        do throws(Interpolation.Failure) {
            let value = try interpolation(written, of: node, isTemplate: isTemplate)
            if value.hasReferences { replaced += value.text.utf8.count }
            guard replaced <= ConfigurationReader.mostReplaced else {
                throw Interpolation.Failure(text: "references stand for more than 16MiB up to here")
            }
            return Scalar(
                text: value.text,
                isNull: style == .plain && Self.isNull(value.text),
                isWritten: !value.hasReferences,
                hasParameters: value.hasParameters,
                hasStandIns: value.hasStandIns
            )
        } catch {
            if let name = error.missingParameter {
                complainOfMissing(name)
            } else {
                complain(node.position, error.text, error.exitCode)
            }
            return nil
        }
    }

    private func interpolation(
        _ written: String,
        of node: ConfigurationNode,
        isTemplate: Bool
    ) throws(Interpolation.Failure) -> Interpolation {
        let isInPreset = node.position.preset != nil
        return try Interpolation(written) { reference, before throws(Interpolation.Failure) in
            var replacement = try lookUp(reference, inPreset: isInPreset)
            if replacement.isParameter, isTemplate {
                replacement.text = TemplatePlace(after: before).fitted(replacement.text)
            }
            return replacement
        }
    }

    /// Whether the value is null, as far as that shows without complaining.
    func isNull(_ node: ConfigurationNode) -> Bool {
        guard case .scalar(let written, .plain) = node.content else { return false }
        let value = try? interpolation(written, of: node, isTemplate: false)
        return value.map { Self.isNull($0.text) } ?? false
    }

    private static func isNull(_ text: String) -> Bool {
        ["", "~", "null", "Null", "NULL"].contains(text)
    }
}

extension ConfigurationNode {
    /// What it is, for errors.
    fileprivate var kind: String {
        switch content {
        case .scalar(let text, .plain) where text.isEmpty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .unknown: "something unknown"
        }
    }
}
