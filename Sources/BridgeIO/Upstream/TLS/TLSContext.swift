internal import BridgeCore
internal import COpenSSL

/// The settings of TLS as OpenSSL holds them: authorities, versions, our own certificate.
@safe nonisolated final class TLSContext {
    let pointer: OpaquePointer
    /// What to do about a certificate of an unknown authority; nil when the settings name the authorities.
    let authorityHint: String?

    /// SSL_OP_NO_RENEGOTIATION, a macro that Swift does not see.
    private static let noRenegotiation: UInt64 = 1 << 30

    /// Loads what `settings` name, from the files as they are now.
    init(_ settings: TLSSettings) throws(TLSFailure) {
        let made = try unsafe TLSContext.make()
        unsafe pointer = unsafe made
        authorityHint = unsafe settings.authorityFile == nil ? SystemAuthorities.load(into: made) : nil
        // These are macros around SSL_CTX_ctrl, which Swift does not see.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Idle connections give their buffers back: some 34 KiB each.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // A new handshake of TLS 1.2 amid messages would make writing depend on reading.
        unsafe SSL_CTX_set_options(pointer, TLSContext.noRenegotiation)
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
        return unsafe made
    }
}
