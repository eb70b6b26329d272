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
    private var path = ConfigurationPath()
    /// Bytes that references stood for.
    private var replaced = 0
    private(set) var complaints: [StartError.Complaint] = []
    /// What was complained about, and what that is in.
    private var broken: Set<String> = []
    /// What was complained about itself.
    private var named: Set<String> = []
    /// What was tried of TLS, as many connections may name the same files.
    var triedTLS: [TLSSettings: [TLSFileFault]] = [:]
    /// The line of each value that was come across.
    private(set) var lines: [String: Int] = [:]

    init(file: String, environment: [String: String], files: ConfigurationFiles) {
        reach = .machine
        self.file = file
        self.environment = environment
        self.files = files
    }

    /// Reads what a client wrote; begins with what is wrong with its form.
    init(ofClient faults: [ConfigurationFault]) {
        reach = .nothing
        file = ""
        environment = [:]
        files = .none
        for fault in faults { complain(fault.line, about: fault.path ?? "", fault.text, .configuration) }
    }

    /// Begins with what is wrong with the form of the file.
    init(
        file: String,
        environment: [String: String],
        files: ConfigurationFiles,
        faults: [ConfigurationFault]
    ) {
        self.init(file: file, environment: environment, files: files)
        for fault in faults { complain(fault.line, about: fault.path ?? "", fault.text, .configuration) }
    }

    /// In all values together, in bytes.
    private static let mostReplaced = 16 << 20

    // MARK: Moving about

    /// Does something one step further down.
    mutating func inside<Result>(
        _ key: String,
        at line: Int? = nil,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        go(to: path.appending(key: key), line, body)
    }

    mutating func inside<Result>(
        _ index: Int,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        go(to: path.appending(index: index), nil, body)
    }

    private mutating func go<Result>(
        to place: ConfigurationPath,
        _ line: Int?,
        _ body: (inout ConfigurationReader) -> Result
    ) -> Result {
        let origin = path
        path = place
        if let line, lines[path.text] == nil { lines[path.text] = line }
        defer { path = origin }
        return body(&self)
    }

    /// The line of the value that stands here, if the file has it.
    var line: Int? { lines[path.text] }

    // MARK: Complaining

    /// Remembers what is wrong with what stands on a line.
    mutating func complain(_ line: Int, _ text: String, _ exitCode: ExitCode = .configuration) {
        complain(line, about: path.text, text, exitCode)
    }

    private mutating func complain(_ line: Int, about place: String, _ text: String, _ exitCode: ExitCode) {
        let subject = place.isEmpty ? "" : place + ": "
        complaints.append(StartError.Complaint(file: file, line: line, subject + text, exitCode))
        for end in place.indices where place[end] == "." || place[end] == "[" {
            broken.insert(String(place[..<end]))
        }
        broken.insert(place)
        named.insert(place)
    }

    mutating func complain(_ node: ConfigurationNode, _ text: String) {
        complain(node.position.line, text)
    }

    /// Something is wrong with the value of a key here, or in it, so that nothing more can be said of it.
    func isBroken(_ key: String) -> Bool { broken.contains(path.appending(key: key).text) }

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

    /// The elements of a list; nil after complaining.
    mutating func elements(of node: ConfigurationNode) -> [ConfigurationNode]? {
        if case .sequence(let elements) = node.content { return elements }
        if node.isKnown { complain(node, "expected a list, not \(node.kind)") }
        return nil
    }

    /// A scalar with its references replaced; nil after complaining.
    mutating func scalar(_ node: ConfigurationNode, expecting expectation: String) -> Scalar? {
        guard case .scalar(let written, let style) = node.content else {
            if node.isKnown { complain(node, "expected \(expectation), not \(node.kind)") }
            return nil
        }
        do throws(Interpolation.Failure) {
            let value = try Interpolation(written, lookUp: lookUp)
            if value.hasReferences { replaced += value.text.utf8.count }
            guard replaced <= ConfigurationReader.mostReplaced else {
                throw Interpolation.Failure(text: "references stand for more than 16MiB up to here")
            }
            return Scalar(
                text: value.text,
                isNull: style == .plain && Self.isNull(value.text),
                isWritten: !value.hasReferences
            )
        } catch {
            complain(node.position.line, error.text, error.exitCode)
            return nil
        }
    }

    /// Whether the value is null, as far as that shows without complaining.
    func isNull(_ node: ConfigurationNode) -> Bool {
        guard case .scalar(let written, .plain) = node.content else { return false }
        let value = try? Interpolation(written, lookUp: lookUp)
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
