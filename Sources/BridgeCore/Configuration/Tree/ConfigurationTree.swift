/// What a file holds, as far as it has a meaning, and what is wrong with its form.
package struct ConfigurationTree: Equatable, Sendable {
    package var root: ConfigurationNode
    /// In the order of the file.
    package var faults: [ConfigurationFault]

    package init(root: ConfigurationNode, faults: [ConfigurationFault] = []) {
        self.root = root
        self.faults = faults
    }
}
