internal import BridgeCore
internal import COpenSSL

/// The settings of TLS as OpenSSL holds them: authorities, versions, our own certificate.
@safe nonisolated final class TLSContext {
    let pointer: OpaquePointer
    /// What to do about a certificate of an unknown authority; nil when the settings name the authorities.
    let authorityHint: String?

    /// SSL_OP_NO_RENEGOTIATION, a macro that Swift does not see.
    private static let noRenegotiation: UInt64 = 1 << 30
    /// Authenticated encryption with keys that are forgotten after the session, for TLS 1.2; all of 1.3 has both.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

    /// Loads what `settings` name, from the files as they are now.
    init(_ settings: TLSSettings) throws(TLSFailure) {
        let made = try unsafe TLSContext.make(TLS_client_method())
        unsafe pointer = unsafe made
        authorityHint = unsafe settings.authorityFile == nil ? SystemAuthorities.load(into: made) : nil
        unsafe TLSContext.setCommonRules(of: pointer)
        unsafe SSL_CTX_set_verify(pointer, settings.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        let http = [UInt8(8)] + Array("http/1.1".utf8)
        unsafe SSL_CTX_set_alpn_protos(pointer, http, CUnsignedInt(http.count))
        if let fault = unsafe TLSContext.load(settings, into: made).first {
            throw TLSFailure(error: fault.text)
        }
    }

    /// Loads the certificate that clients are shown, and its key, from the files as they are now.
    init(serving settings: ServerTLSSettings) throws(TLSFailure) {
        let made = try unsafe TLSContext.make(TLS_server_method())
        unsafe pointer = unsafe made
        authorityHint = nil
        unsafe TLSContext.setCommonRules(of: pointer)
        unsafe SSL_CTX_set_cipher_list(pointer, TLSContext.ciphers)
        // Clients take their sessions with them (tickets): whoever comes often must not fill our memory.
        unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_set_alpn_select_cb(pointer, chooseProtocol, nil)
        if let fault = unsafe TLSContext.load(settings.files, into: made).first {
            throw TLSFailure(error: fault.text)
        }
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }

    /// A context that holds nothing yet; whoever made it frees it.
    static func make(_ method: OpaquePointer?) throws(TLSFailure) -> OpaquePointer {
        OpenSSLError.clear()
        guard let made = unsafe SSL_CTX_new(method) else {
            throw TLSFailure(error: "OpenSSL does not start: \(OpenSSLError.takeReason())")
        }
        return unsafe made
    }

    private static func setCommonRules(of context: OpaquePointer) {
        // These are macros around SSL_CTX_ctrl, which Swift does not see.
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        // Idle connections give their buffers back: some 34 KiB each.
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // A new handshake of TLS 1.2 amid messages would make writing depend on reading.
        unsafe SSL_CTX_set_options(context, noRenegotiation)
    }

    /// Whether the certificate that it has is valid at this time of day.
    var validity: CertificateValidity {
        guard let certificate = unsafe SSL_CTX_get0_certificate(pointer) else { return .valid }
        if unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 { return .expired }
        return unsafe X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0 ? .early : .valid
    }
}

/// Whether clients that look will accept the dates of a certificate.
package nonisolated enum CertificateValidity: Sendable {
    case valid
    case expired
    /// It becomes valid later.
    case early
}

/// Agrees on HTTP/1.1 with clients that offer protocols; those that do not offer it are told that there is none
/// (RFC 7301 §3.2).
private nonisolated func chooseProtocol(
    _ session: OpaquePointer?,
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?,
    _ offeredLength: CUnsignedInt,
    _ context: UnsafeMutableRawPointer?
) -> CInt {
    let name = Array("http/1.1".utf8)
    var rest = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))[...]
    // Each protocol stands behind its length.
    while let length = unsafe rest.first.map(Int.init), unsafe rest.count > length {
        let protocolName = unsafe rest.dropFirst().prefix(length)
        if unsafe protocolName.elementsEqual(name) {
            // It is a part of what was offered, which lives as long as is needed.
            unsafe chosen?.pointee = UnsafeBufferPointer(rebasing: protocolName).baseAddress
            unsafe chosenLength?.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
        }
        unsafe rest = rest.dropFirst(length + 1)
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
