internal import BridgeCore
internal import COpenSSL

/// The settings of TLS as OpenSSL holds them: authorities, versions, our own certificate.
///
/// One for all connections with the same settings that are open at a time.
@safe nonisolated final class TLSContext {
    let pointer: OpaquePointer
    /// What to do about a certificate of an unknown authority; nil when the settings name the authorities.
    let authorityHint: String?

    /// Loads what `settings` name, from the files as they are now.
    fileprivate init(_ settings: TLSSettings) throws(TLSFailure) {
        OpenSSLError.clear()
        guard let made = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw TLSFailure(error: "OpenSSL does not start: \(OpenSSLError.takeReason())")
        }
        unsafe pointer = unsafe made
        authorityHint = unsafe settings.authorityFile == nil ? SystemAuthorities.load(into: made) : nil
        // These are macros around SSL_CTX_ctrl, which Swift does not see.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Idle connections give their buffers back: some 34 KiB each.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        unsafe SSL_CTX_set_verify(pointer, settings.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        let http = [UInt8(8)] + Array("http/1.1".utf8)
        unsafe SSL_CTX_set_alpn_protos(pointer, http, CUnsignedInt(http.count))
        try loadAuthorities(settings)
        try loadCertificate(settings)
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    private func loadAuthorities(_ settings: TLSSettings) throws(TLSFailure) {
        guard let file = settings.authorityFile else { return }
        guard unsafe SSL_CTX_load_verify_file(pointer, file) == 1 else {
            throw TLSFailure(error: "no authorities can be read from \(file): \(OpenSSLError.takeReason())")
        }
    }

    private func loadCertificate(_ settings: TLSSettings) throws(TLSFailure) {
        guard let file = settings.certificateFile else { return }
        guard unsafe SSL_CTX_use_certificate_chain_file(pointer, file) == 1 else {
            throw TLSFailure(error: "no certificate can be read from \(file): \(OpenSSLError.takeReason())")
        }
        let keyFile = settings.keyFile ?? file
        guard unsafe SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFailure(
                error: "no key for \(file) can be read from \(keyFile): \(OpenSSLError.takeReason())"
            )
        }
    }
}

extension TLSContext {
    private nonisolated struct WeakContext {
        weak var context: TLSContext?
    }

    /// Those in use: a reload of files shows as soon as the last connection with the old ones is gone.
    @MainActor private static var inUse: [TLSSettings: WeakContext] = [:]

    /// The context for `settings`, shared with the connections that have the same.
    @MainActor static func shared(for settings: TLSSettings) throws(TLSFailure) -> TLSContext {
        if let context = inUse[settings]?.context { return context }
        let context = try TLSContext(settings)
        inUse = inUse.filter { $0.value.context != nil }
        inUse[settings] = WeakContext(context: context)
        return context
    }
}
