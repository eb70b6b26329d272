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
        let made = try unsafe TLSContext.make()
        unsafe pointer = unsafe made
        authorityHint = unsafe settings.authorityFile == nil ? SystemAuthorities.load(into: made) : nil
        // These are macros around SSL_CTX_ctrl, which Swift does not see.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Idle connections give their buffers back: some 34 KiB each.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        unsafe SSL_CTX_set_verify(pointer, settings.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        let http = [UInt8(8)] + Array("http/1.1".utf8)
        unsafe SSL_CTX_set_alpn_protos(pointer, http, CUnsignedInt(http.count))
        if let fault = unsafe TLSContext.load(settings, into: made).first {
            throw TLSFailure(error: fault.text)
        }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    /// A context that holds nothing yet; whoever made it frees it.
    static func make() throws(TLSFailure) -> OpaquePointer {
        OpenSSLError.clear()
        guard let made = unsafe SSL_CTX_new(TLS_client_method()) else {
            throw TLSFailure(error: "OpenSSL does not start: \(OpenSSLError.takeReason())")
        }
        // Without this OpenSSL asks on the terminal for the password of an encrypted key, and waits.
        unsafe SSL_CTX_set_default_passwd_cb(made) { _, _, _, _ in -1 }
        return unsafe made
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
