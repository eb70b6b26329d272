/// How an upstream is spoken to over TLS.
package struct TLSSettings: Hashable, Sendable {
    /// A PEM file of the authorities to trust; nil: those of the system.
    package var authorityFile: String?
    /// A PEM file with our own certificate and its chain.
    package var certificateFile: String?
    /// A PEM file with its key; nil: in the same file.
    package var keyFile: String?
    /// What opens the key, if that is encrypted.
    package var keyPassword: Secret?
    /// The name or address that the certificate must have, sent as SNI if it is a name; nil: the URL's host.
    package var serverName: String?
    /// False accepts any certificate.
    package var verifies = true

    package init() {}
}
