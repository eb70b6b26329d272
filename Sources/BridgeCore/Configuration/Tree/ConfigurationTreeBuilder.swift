/// Makes a tree of what a YAML parser reports, within bounds.
///
/// Feed it the events in order, then call `finish()`. After an error it is of no more use. Duplicate keys are
/// remembered rather than thrown, so that all of them are told at once.
package struct ConfigurationTreeBuilder {
    /// What a parser finds, in the order of the text.
    package enum Event: Equatable, Sendable {
        case documentStart
        case scalar(String, ConfigurationNode.Style, anchor: String?)
        case alias(String)
        case sequenceStart(anchor: String?)
        case mappingStart(anchor: String?)
        /// Of the innermost sequence or mapping that is open.
        case end
    }

    package typealias Position = ConfigurationNode.Position

    /// Deeper nesting is refused: whoever walks the tree may recurse.
    package static let deepest = 64
    /// Of all values, where an alias counts as all that it stands for.
    package static let mostNodes = 100_000

    private var frames: [ConfigurationFrame] = []
    private var root: ConfigurationNode?
    private var documents = 0
    private var nodes = 0
    private var anchors: [String: MeasuredNode] = [:]
    private var faults: [ConfigurationFault] = []

    package init() {}

    /// Takes in one event.
    ///
    /// - Throws: what makes the rest of the file meaningless.
    package mutating func handle(_ event: Event, at position: Position) throws(ConfigurationFault) {
        switch event {
        case .documentStart:
            documents += 1
            guard documents == 1 else {
                throw fault("a second document starts here; a configuration is one document", at: position)
            }
        case .scalar(let text, let style, let anchor):
            try takeScalar(text, style, anchor: anchor, at: position)
        case .alias(let name):
            try requireValue(at: position)
            let node = try node(anchored: name, at: position)
            try take(node, counting: node.weight, at: position)
        case .sequenceStart(let anchor):
            try open(isMapping: false, anchor: anchor, at: position)
        case .mappingStart(let anchor):
            try open(isMapping: true, anchor: anchor, at: position)
        case .end:
            try close()
        }
    }

    /// The tree; an empty mapping for a file that holds nothing.
    package func finish() throws(ConfigurationFaults) -> ConfigurationNode {
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        return root ?? ConfigurationNode(.mapping([]))
    }

    /// What was found wrong, in the order of the file, with the error that ended it.
    package func faults(endingWith last: ConfigurationFault) -> ConfigurationFaults {
        ConfigurationFaults(faults + [last])
    }

    // MARK: Values

    private mutating func takeScalar(
        _ text: String,
        _ style: ConfigurationNode.Style,
        anchor: String?,
        at position: Position
    ) throws(ConfigurationFault) {
        if let last = frames.indices.last, frames[last].expectsKey {
            if let first = frames[last].begin(key: text, style, at: position) {
                let path = frames[..<last].path.appending(key: text)
                faults.append(
                    ConfigurationFault(
                        line: position.line,
                        path: path.text,
                        "stands twice; the first is on line \(first)"
                    )
                )
            }
            return
        }
        let node = MeasuredNode(ConfigurationNode(.scalar(text, style), at: position))
        if let anchor { anchors[anchor] = node }
        try take(node, counting: 1, at: position)
    }

    private mutating func open(
        isMapping: Bool,
        anchor: String?,
        at position: Position
    ) throws(ConfigurationFault) {
        try requireValue(at: position)
        guard frames.count < ConfigurationTreeBuilder.deepest else {
            throw fault("is nested deeper than \(ConfigurationTreeBuilder.deepest) levels", at: position)
        }
        // Until it is complete it cannot be referred to, not even by what stood under its name before.
        if let anchor { anchors[anchor] = nil }
        frames.append(ConfigurationFrame(isMapping: isMapping, anchor: anchor, at: position))
    }

    private mutating func close() throws(ConfigurationFault) {
        guard let frame = frames.popLast() else { return }
        let node = frame.finished()
        if let anchor = frame.anchor { anchors[anchor] = node }
        try take(node, counting: 1, at: frame.position)
    }

    private func node(anchored name: String, at position: Position) throws(ConfigurationFault) -> MeasuredNode
    {
        if let node = anchors[name] { return node }
        guard !frames.contains(where: { $0.anchor == name }) else {
            throw fault(
                "the alias *\(Problem.quotable(name)) stands inside of what it refers to",
                at: position
            )
        }
        throw fault("there is no anchor &\(Problem.quotable(name)) before this alias", at: position)
    }

    /// Puts a value where it belongs, if the bounds allow it; `count` of its values were not counted before.
    private mutating func take(
        _ node: MeasuredNode,
        counting count: Int,
        at position: Position
    ) throws(ConfigurationFault) {
        nodes += count
        guard frames.count + node.height <= ConfigurationTreeBuilder.deepest else {
            throw fault("is nested deeper than \(ConfigurationTreeBuilder.deepest) levels", at: position)
        }
        guard nodes <= ConfigurationTreeBuilder.mostNodes else {
            throw fault(
                "there are more than \(ConfigurationTreeBuilder.mostNodes) values, aliases written out",
                at: position
            )
        }
        guard let last = frames.indices.last else {
            root = node.node
            return
        }
        if let complaint = frames[last].take(node) { throw fault(complaint, at: position) }
    }

    private func requireValue(at position: Position) throws(ConfigurationFault) {
        guard frames.last?.expectsKey != true else {
            throw fault("a key must be a simple text", at: position)
        }
    }

    private func fault(_ text: String, at position: Position) -> ConfigurationFault {
        let path = frames[...].path.text
        return ConfigurationFault(line: position.line, path: path.isEmpty ? nil : path, text)
    }
}
