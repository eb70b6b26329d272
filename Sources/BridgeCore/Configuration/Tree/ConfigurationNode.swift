/// A value of the configuration file as it was written, before anything is made of it.
package struct ConfigurationNode: Equatable, Sendable {
    /// A place in the file; both count from 1.
    package struct Position: Equatable, Sendable {
        package var line: Int
        package var column: Int

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
