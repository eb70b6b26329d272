package import BridgeCore
internal import COpenSSL
internal import Glibc

/// The files that settings of TLS name.
nonisolated extension TLSContext {
    /// Loads them into a context; says what is wrong with each.
    static func load(_ settings: TLSSettings, into context: OpaquePointer) -> [TLSFileFault] {
        [
            settings.authorityFile.flatMap { unsafe loadAuthorities($0, into: context) },
            settings.certificateFile.flatMap { unsafe loadCertificate($0, settings, into: context) },
        ].compactMap(\.self)
    }

    private static func loadAuthorities(_ file: String, into context: OpaquePointer) -> TLSFileFault? {
        OpenSSLError.clear()
        guard isFile(file) else { return .init(.authorities, "\(file) is not a file") }
        guard unsafe SSL_CTX_load_verify_file(context, file) != 1 else { return nil }
        return .init(.authorities, "no authorities can be read from \(file): \(OpenSSLError.takeReason())")
    }

    private static func loadCertificate(
        _ file: String,
        _ settings: TLSSettings,
        into context: OpaquePointer
    ) -> TLSFileFault? {
        OpenSSLError.clear()
        guard isFile(file) else { return .init(.certificate, "\(file) is not a file") }
        guard unsafe SSL_CTX_use_certificate_chain_file(context, file) == 1 else {
            return .init(
                .certificate,
                "no certificate can be read from \(file): \(OpenSSLError.takeCause())"
            )
        }
        return unsafe loadKey(of: file, settings, into: context)
    }

    private static func loadKey(
        of certificate: String,
        _ settings: TLSSettings,
        into context: OpaquePointer
    ) -> TLSFileFault? {
        if let file = settings.keyFile, !isFile(file) { return .init(.key, "\(file) is not a file") }
        let file = settings.keyFile ?? certificate
        let key = PrivateKey(password: settings.keyPassword)
        OpenSSLError.clear()
        let isRead = key.read(file)
        if unsafe isRead && key.use(in: context) { return nil }
        let reason = OpenSSLError.takeReason()
        if !isRead, key.isEncrypted, settings.keyPassword != nil {
            return .init(.keyPassword, "it does not open the key in \(file): \(reason)")
        }
        let isLocked = !isRead && key.isEncrypted
        let cause = isLocked ? "it is encrypted, and `keyPassword` is not given" : reason
        guard settings.keyFile != nil else {
            return .init(
                .certificate,
                "no key can be read from \(file), and `key` names no other file: \(cause)"
            )
        }
        return .init(.key, "no key for \(certificate) can be read from \(file): \(cause)")
    }

    /// Whether OpenSSL may open it: a pipe, whose content is gone once it was read, would hold everything up.
    ///
    /// What is not there at all is left to OpenSSL, which says so.
    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}

extension TLSSettings {
    /// What is wrong with the files that they name, as they are now; reading them blocks.
    package nonisolated var fileFaults: [TLSFileFault] {
        // Where OpenSSL does not start at all, dialling says so.
        guard let context = try? unsafe TLSContext.make(TLS_client_method()) else { return [] }
        defer { unsafe SSL_CTX_free(context) }
        return unsafe TLSContext.load(self, into: context)
    }
}
