/// A text that is not what a setting needs; it never holds the text itself, which may be a secret.
package struct MalformedValue: Error, Equatable, Sendable {
    /// What would be right, to stand after "expected".
    package var expectation: String

    package init(_ expectation: String) {
        self.expectation = expectation
    }
}
