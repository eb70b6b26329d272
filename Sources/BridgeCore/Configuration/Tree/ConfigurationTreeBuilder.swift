/// Makes a tree of what a YAML parser reports, within bounds.
///
/// Feed it the events in order, then call `finish()`. What leaves the rest of the file its meaning is remembered
/// rather than thrown, so that all of it is told at once.
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
    /// Of all values of a file, where an alias counts as all that it stands for.
    package static let mostNodes = 100_000

    private let mostNodes: Int

    private var frames: [ConfigurationFrame] = []
    private var root: ConfigurationNode?
    private var documents = 0
    private var nodes = 0
    private var anchors: [String: MeasuredNode] = [:]
    private var faults: [ConfigurationFault] = []

    package init(mostNodes: Int = ConfigurationTreeBuilder.mostNodes) {
        self.mostNodes = mostNodes
    }

    /// Remembers what is wrong with what comes next.
    package mutating func complain(_ text: String, at position: Position) {
        faults.append(fault(text, at: position))
    }

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
            if refuseKey(at: position) {
                frames[frames.count - 1].beginNothing(at: position)
                return
            }
            let node = node(anchored: name, at: position)
            try take(node, counting: node.weight, at: position)
        case .sequenceStart(let anchor):
            try open(isMapping: false, anchor: anchor, at: position)
        case .mappingStart(let anchor):
            try open(isMapping: true, anchor: anchor, at: position)
        case .end:
            try close()
        }
    }

    /// The tree, an empty mapping for a file that holds nothing, and what was found wrong on the way.
    package func finish() -> ConfigurationTree {
        ConfigurationTree(root: root ?? ConfigurationNode(.mapping([])), faults: faults)
    }

    /// The same where an error ended it; throws if there is no whole tree.
    package func finish(after last: ConfigurationFault) throws(ConfigurationFaults) -> ConfigurationTree {
        guard let root else { throw ConfigurationFaults(faults + [last]) }
        return ConfigurationTree(root: root, faults: faults + [last])
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
        // What is no key is read to its end all the same.
        _ = refuseKey(at: position)
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
        if let last = frames.indices.last, frames[last].expectsKey {
            frames[last].beginNothing(at: frame.position)
        } else {
            try take(node, counting: 1, at: frame.position)
        }
    }

    private mutating func node(anchored name: String, at position: Position) -> MeasuredNode {
        if let node = anchors[name] { return node }
        let shown = Problem.quotable(name)
        let isOpen = frames.contains { $0.anchor == name }
        complain(
            isOpen
                ? "the alias *\(shown) stands inside of what it refers to"
                : "there is no anchor &\(shown) before this alias",
            at: position
        )
        return MeasuredNode(ConfigurationNode(.unknown, at: position))
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
        guard nodes <= mostNodes else {
            throw fault("there are more than \(mostNodes) values, aliases written out", at: position)
        }
        guard let last = frames.indices.last else {
            root = node.node
            return
        }
        if let complaint = frames[last].take(node) { complain(complaint, at: position) }
    }

    /// Complains if a key is due, which only a text can be; returns whether it is.
    private mutating func refuseKey(at position: Position) -> Bool {
        guard frames.last?.expectsKey == true else { return false }
        complain("a key must be a simple text", at: position)
        return true
    }

    private func fault(_ text: String, at position: Position) -> ConfigurationFault {
        let path = frames[...].path.text
        return ConfigurationFault(line: position.line, path: path.isEmpty ? nil : path, text)
    }
}
