/// What several series have in common: their name, their kind, and what they mean.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package let name: StaticString
    package let kind: Kind
    /// A sentence in which nothing has to be escaped.
    package let help: StaticString

    init(_ name: StaticString, _ kind: Kind, _ help: StaticString) {
        self.name = name
        self.kind = kind
        self.help = help
    }
}
