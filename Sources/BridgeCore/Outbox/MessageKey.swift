/// What a client named a request by, so that its repeat is recognised.
package struct MessageKey: Equatable, Sendable {
    package var text: String
    /// The same for equal bodies alone.
    package var fingerprint: [UInt8]

    package init(_ text: String, fingerprint: [UInt8]) {
        self.text = text
        self.fingerprint = fingerprint
    }
}
