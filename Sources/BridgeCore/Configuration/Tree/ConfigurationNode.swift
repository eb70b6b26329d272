/// A value of the configuration file as it was written, before anything is made of it.
package struct ConfigurationNode: Equatable, Sendable {
    /// A place in a file; both numbers count from 1.
    package struct Position: Equatable, Sendable {
        package var line: Int
        package var column: Int
        /// The file of the preset that it stands in; nil: that of the configuration itself.
        package var preset: String?

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    /// How a text was written, which tells `null` from `"null"`.
    package enum Style: Equatable, Sendable {
        case plain
        case quoted
    }

    package enum Content: Equatable, Sendable {
        case scalar(String, Style)
        case sequence([ConfigurationNode])
        /// In the order of the file; where a key stands twice, which is a fault, the first one counts.
        case mapping([Member])
        /// What it is cannot be told, which is a fault; nothing more is to be said of it.
        case unknown
    }

    /// A key with its value.
    package struct Member: Equatable, Sendable {
        package var key: String
        package var keyPosition: Position
        package var value: ConfigurationNode

        package init(key: String, keyPosition: Position, value: ConfigurationNode) {
            self.key = key
            self.keyPosition = keyPosition
            self.value = value
        }
    }

    package var position: Position
    package var content: Content

    package init(_ content: Content, at position: Position = Position(line: 1, column: 1)) {
        self.content = content
        self.position = position
    }
}

extension ConfigurationNode {
    /// False: a fault of the file's form says already what is wrong with it.
    var isKnown: Bool { content != .unknown }

    /// The same, as something that stands in the file of a preset.
    func placed(inPreset file: String) -> ConfigurationNode {
        var node = self
        node.position.preset = file
        switch content {
        case .scalar, .unknown: break
        case .sequence(let elements):
            node.content = .sequence(elements.map { $0.placed(inPreset: file) })
        case .mapping(let members):
            node.content = .mapping(
                members.map { member in
                    var member = member
                    member.keyPosition.preset = file
                    member.value = member.value.placed(inPreset: file)
                    return member
                }
            )
        }
        return node
    }

    static func plain(_ text: String) -> ConfigurationNode { ConfigurationNode(.scalar(text, .plain)) }

    static func quoted(_ text: String) -> ConfigurationNode { ConfigurationNode(.scalar(text, .quoted)) }

    static var null: ConfigurationNode { .plain("null") }

    static func sequence(_ elements: [ConfigurationNode]) -> ConfigurationNode {
        ConfigurationNode(.sequence(elements))
    }

    static func mapping(_ members: [(key: String, value: ConfigurationNode)]) -> ConfigurationNode {
        let position = Position(line: 1, column: 1)
        return ConfigurationNode(
            .mapping(members.map { Member(key: $0.key, keyPosition: position, value: $0.value) })
        )
    }
}
