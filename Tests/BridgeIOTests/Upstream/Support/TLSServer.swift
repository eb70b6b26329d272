import COpenSSL
import Testing

/// A TLS server's side as a function of bytes, with OpenSSL itself.
@safe @MainActor final class TLSServer {
    /// What a server presents and demands.
    struct Settings {
        var certificate: String
        var key: String
        /// Demands a certificate of the client that this authority signed.
        var clientAuthority: String?
        /// Speaks nothing newer than TLS 1.1.
        var isOutdated = false
    }

    /// The name that the client asked for, by SNI.
    private(set) var serverName: String?
    private(set) var isSecured = false

    private let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer

    init(_ settings: Settings) throws {
        let context = try unsafe #require(unsafe SSL_CTX_new(TLS_server_method()))
        defer { unsafe SSL_CTX_free(context) }
        let hasCertificate = unsafe SSL_CTX_use_certificate_chain_file(context, settings.certificate)
        let hasKey = unsafe SSL_CTX_use_PrivateKey_file(context, settings.key, SSL_FILETYPE_PEM)
        try #require(hasCertificate == 1 && hasKey == 1)
        if let authority = settings.clientAuthority {
            unsafe SSL_CTX_load_verify_file(context, authority)
            let mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            unsafe SSL_CTX_set_verify(context, mode, nil)
        }
        if settings.isOutdated {
            unsafe SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0")
            unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_1_VERSION), nil)
        }
        unsafe ssl = try #require(unsafe SSL_new(context))
        unsafe input = try #require(unsafe BIO_new(BIO_s_mem()))
        unsafe output = try #require(unsafe BIO_new(BIO_s_mem()))
        unsafe BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        unsafe SSL_set_bio(ssl, input, output)
        unsafe SSL_set_accept_state(ssl)
    }

    isolated deinit {
        unsafe SSL_free(ssl)
    }

    /// Takes what the network brought; gives what it decrypts to.
    func receive(_ bytes: [UInt8]) -> [UInt8] {
        ERR_clear_error()
        _ = unsafe BIO_write(input, bytes, CInt(bytes.count))
        if !isSecured {
            isSecured = unsafe SSL_do_handshake(ssl) == 1
            guard isSecured else { return [] }
            let name = unsafe SSL_get_servername(ssl, CInt(TLSEXT_NAMETYPE_host_name))
            serverName = unsafe name.map { unsafe String(cString: $0) }
        }
        var plain: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = unsafe SSL_read(ssl, &buffer, CInt(buffer.count))
            guard count > 0 else { return plain }
            plain += buffer.prefix(Int(count))
        }
    }

    func encrypt(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        ERR_clear_error()
        _ = unsafe SSL_write(ssl, bytes, CInt(bytes.count))
    }

    func sendCloseNotify() {
        unsafe SSL_shutdown(ssl)
    }

    /// What the network is to carry.
    func takeOutput() -> [UInt8] {
        let pending = unsafe BIO_ctrl(output, BIO_CTRL_PENDING, 0, nil)
        guard pending > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: pending)
        _ = unsafe BIO_read(output, &bytes, CInt(pending))
        return bytes
    }
}
