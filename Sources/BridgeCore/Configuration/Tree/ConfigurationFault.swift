/// Something that makes a file unfit to be a configuration, whatever its keys mean.
package struct ConfigurationFault: Error, Equatable, Sendable {
    /// From 1.
    package var line: Int
    /// Where in the tree, such as `http.tokens[0]`; nil: nowhere in particular.
    package var path: String?
    package var text: String

    package init(line: Int, path: String? = nil, _ text: String) {
        self.line = line
        self.path = path
        self.text = text
    }
}

/// All that was found wrong with the form of a file that cannot be made sense of; never empty.
package struct ConfigurationFaults: Error, Equatable, Sendable {
    package var faults: [ConfigurationFault]

    package init(_ faults: [ConfigurationFault]) {
        self.faults = faults
    }
}

/// A way through the tree, as errors name it: `connections.default.heartbeat`, `http.tokens[0].name`.
struct ConfigurationPath: Equatable, Sendable {
    private(set) var text = ""

    mutating func append(key: String) {
        text += (text.isEmpty ? "" : ".") + Problem.quotable(key)
    }

    mutating func append(index: Int) {
        text += "[\(index)]"
    }

    func appending(key: String) -> ConfigurationPath {
        var path = self
        path.append(key: key)
        return path
    }

    func appending(index: Int) -> ConfigurationPath {
        var path = self
        path.append(index: index)
        return path
    }
}
