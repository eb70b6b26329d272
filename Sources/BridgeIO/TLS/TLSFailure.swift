/// Why TLS cannot be spoken, in OpenSSL's words.
package nonisolated struct TLSFailure: Error, Equatable, Sendable {
    /// One sentence for people and logs.
    package var error: String
    /// What came was a request without TLS.
    package var isPlainHTTP = false

    package init(error: String, isPlainHTTP: Bool = false) {
        self.error = error
        self.isPlainHTTP = isPlainHTTP
    }
}
