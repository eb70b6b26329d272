/// A name, or a glob of names: `*` stands for any characters, `?` for one.
package struct NamePattern: Equatable, Sendable {
    package var text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Whether it is a name (`[A-Za-z0-9._-]`), or one with wildcards in it.
    var isWellFormed: Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "?"):
                    true
                default: false
                }
            }
    }

    var hasWildcards: Bool {
        text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    }

    package func matches(_ name: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(name.utf8)
        var at = (pattern: 0, name: 0)
        var retry: (pattern: Int, name: Int)?
        while at.name < name.count {
            if at.pattern < pattern.count, pattern[at.pattern] == UInt8(ascii: "*") {
                retry = (at.pattern + 1, at.name)
                at.pattern += 1
            } else if at.pattern < pattern.count,
                pattern[at.pattern] == name[at.name] || pattern[at.pattern] == UInt8(ascii: "?")
            {
                at = (at.pattern + 1, at.name + 1)
            } else if let last = retry {
                // Only the newest star has to give way, so this takes pattern times name steps at most.
                retry = (last.pattern, last.name + 1)
                at = (last.pattern, last.name + 1)
            } else {
                return false
            }
        }
        return pattern[at.pattern...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
