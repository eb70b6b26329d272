/// How the settings of a connection are put over those of its preset.
extension ConfigurationNode {
    /// What takes part as a whole, though it is written as a mapping: messages and matchers.
    private static let wholes = [["heartbeat", "send"], ["heartbeat", "expect"], ["heartbeat", "reply"]]
    /// Keys under `url` of which there can be one.
    private static let askers = ["http", "command"]

    /// This value over another one: mappings are merged, whatever else replaces what is below.
    ///
    /// `path` are the keys that lead here.
    func over(_ base: ConfigurationNode, at path: [String] = []) -> ConfigurationNode {
        guard case .mapping(let members) = content, case .mapping(let others) = base.content,
            !ConfigurationNode.wholes.contains(path)
        else { return self }
        // Names of header fields are the same in either case.
        let fold: (String) -> String = { path.last == "headers" ? $0.lowercased() : $0 }
        let known = Dictionary(others.map { (fold($0.key), $0) }) { first, _ in first }
        let own = Set(members.map { fold($0.key) })
        var merged = members.map { member in
            guard let other = known[fold(member.key)] else { return member }
            var member = member
            member.value = member.value.over(other.value, at: path + [member.key])
            return member
        }
        let isAsking = path == ["url"] && !own.isDisjoint(with: ConfigurationNode.askers)
        for other in others where !own.contains(fold(other.key)) {
            if isAsking, ConfigurationNode.askers.contains(other.key) { continue }
            merged.append(other)
        }
        return ConfigurationNode(.mapping(merged), at: position)
    }

    /// The same with the keys of its mappings in the order that they have in another value; further ones come last.
    func ordered(like other: ConfigurationNode) -> ConfigurationNode {
        guard case .mapping(let members) = content, case .mapping(let others) = other.content else {
            return self
        }
        let known = others.compactMap { other in
            members.first { $0.key == other.key }.map { member in
                var member = member
                member.value = member.value.ordered(like: other.value)
                return member
            }
        }
        let further = members.filter { member in !others.contains { $0.key == member.key } }
        return ConfigurationNode(.mapping(known + further), at: position)
    }
}
