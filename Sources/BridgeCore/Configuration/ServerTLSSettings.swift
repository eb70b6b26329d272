/// The certificate that the bridge shows to its own clients, and its key.
package struct ServerTLSSettings: Hashable, Sendable {
    /// A PEM file with the certificate and its chain.
    package var certificateFile = ""
    /// A PEM file with the key; nil: in the same file.
    package var keyFile: String?
    /// What opens the key, if that is encrypted.
    package var keyPassword: Secret?

    package init() {}

    /// The same files as those of a client that shows a certificate: they are read, and may be wrong, in the same ways.
    package var files: TLSSettings {
        var settings = TLSSettings()
        settings.certificateFile = certificateFile
        settings.keyFile = keyFile
        settings.keyPassword = keyPassword
        return settings
    }
}
