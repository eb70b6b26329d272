/// A value with what it takes to count it.
struct MeasuredNode {
    var node: ConfigurationNode
    /// The values that it is made of, itself included.
    var weight = 1
    /// The levels of sequences and mappings in it.
    var height = 0

    init(_ node: ConfigurationNode) {
        self.node = node
    }
}

/// A sequence or mapping whose end has not come yet.
struct ConfigurationFrame {
    let position: ConfigurationNode.Position
    let anchor: String?

    private let isMapping: Bool
    private var elements: [ConfigurationNode] = []
    private var members: [ConfigurationNode.Member] = []
    /// The members that merge keys bring, which those written here override.
    private var merged: [ConfigurationNode.Member] = []
    /// By key, where it first stood.
    private var lines: [String: Int] = [:]
    private var key: Key?
    private var weight = 1
    private var height = 0

    private struct Key {
        var text: String
        var position: ConfigurationNode.Position
        var use: Use
    }

    /// What becomes of the value of a key.
    private enum Use {
        case member
        case merge
        case nothing
    }

    init(isMapping: Bool, anchor: String?, at position: ConfigurationNode.Position) {
        self.isMapping = isMapping
        self.anchor = anchor
        self.position = position
    }

    var expectsKey: Bool { isMapping && key == nil }

    /// Takes a key; what comes next is its value.
    ///
    /// - Returns: the line where the key stands already, if it does.
    mutating func begin(
        key text: String,
        _ style: ConfigurationNode.Style,
        at position: ConfigurationNode.Position
    ) -> Int? {
        let first = lines[text]
        let isMerge = text == "<<" && style == .plain
        key = Key(text: text, position: position, use: isMerge ? .merge : .member)
        lines[text] = first ?? position.line
        return first
    }

    /// Takes a key that is none; what comes next is its value, and of no use.
    mutating func beginNothing(at position: ConfigurationNode.Position) {
        key = Key(text: "?", position: position, use: .nothing)
    }

    /// Takes an element, or the value of the key that was begun.
    ///
    /// - Returns: what is wrong with it.
    mutating func take(_ value: MeasuredNode) -> String? {
        weight += value.weight
        height = max(height, value.height)
        guard let key else {
            elements.append(value.node)
            return nil
        }
        self.key = nil
        switch key.use {
        case .member:
            members.append(.init(key: key.text, keyPosition: key.position, value: value.node))
            return nil
        case .merge:
            return merge(value.node)
        case .nothing:
            return nil
        }
    }

    /// Takes the members of one mapping or of several, of which the first ones win.
    private mutating func merge(_ node: ConfigurationNode) -> String? {
        guard case .sequence(let nodes) = node.content else { return merge(mapping: node) }
        return nodes.reduce(nil) { complaint, node in merge(mapping: node) ?? complaint }
    }

    private mutating func merge(mapping node: ConfigurationNode) -> String? {
        switch node.content {
        case .mapping(let members):
            merged += members
            return nil
        case .unknown:
            return nil
        case .scalar, .sequence:
            return ConfigurationFrame.unmergeable
        }
    }

    private static let unmergeable = "<< takes a mapping or a list of mappings"

    func finished() -> MeasuredNode {
        var all = members
        var known = Set(lines.keys)
        for member in merged where known.insert(member.key).inserted { all.append(member) }
        let content: ConfigurationNode.Content = isMapping ? .mapping(all) : .sequence(elements)
        var finished = MeasuredNode(ConfigurationNode(content, at: position))
        finished.weight = weight
        finished.height = height + 1
        return finished
    }

    /// The way from this value to the one that is being read.
    func extend(_ path: inout ConfigurationPath) {
        if let key {
            // What is merged belongs to the mapping itself.
            if key.use != .merge { path.append(key: key.text) }
        } else if !isMapping {
            path.append(index: elements.count)
        }
    }
}

extension ArraySlice<ConfigurationFrame> {
    /// The way from the root to what is being read.
    var path: ConfigurationPath {
        reduce(into: ConfigurationPath()) { path, frame in frame.extend(&path) }
    }
}
