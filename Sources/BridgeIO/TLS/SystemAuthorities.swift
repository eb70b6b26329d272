internal import COpenSSL
internal import Glibc

/// The authorities that OpenSSL trusts without being told: the system's, or those that the environment names.
nonisolated enum SystemAuthorities {
    private static let fileVariable = "SSL_CERT_FILE"

    /// Lets `context` trust them; returns what to say when none of them signed a certificate.
    ///
    /// OpenSSL passes over a file that it cannot read, so that has to be said then.
    static func load(into context: OpaquePointer) -> String {
        unsafe SSL_CTX_set_default_verify_paths(context)
        guard let file = fileFromEnvironment else {
            return "for an authority of your own, set \(fileVariable) to its PEM file"
        }
        OpenSSLError.clear()
        if unsafe SSL_CTX_load_verify_file(context, file) == 1 {
            return "\(fileVariable) names \(file), which does not hold its authority"
        }
        return "\(fileVariable) names \(file), which cannot be read: \(OpenSSLError.takeReason())"
    }

    /// The file that they come from; there may be a folder of them besides, which is read as the need arises.
    static var file: String? {
        if let file = fileFromEnvironment { return file }
        guard let text = unsafe X509_get_default_cert_file() else { return nil }
        return unsafe String(cString: text)
    }

    private static var fileFromEnvironment: String? {
        guard let text = unsafe getenv(fileVariable) else { return nil }
        let file = unsafe String(cString: text)
        return file.isEmpty ? nil : file
    }
}
