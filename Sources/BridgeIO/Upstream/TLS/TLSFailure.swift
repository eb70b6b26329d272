/// Why TLS cannot be spoken, in OpenSSL's words.
package nonisolated struct TLSFailure: Error, Equatable, Sendable {
    /// One sentence for people and logs.
    package var error: String
}
