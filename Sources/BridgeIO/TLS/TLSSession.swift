internal import COpenSSL
internal import WebSocketProtocol

/// TLS as a function of bytes: what the network brought goes in, what it is to carry comes out.
///
/// OpenSSL works on memory alone, so no system call of its own can raise a signal or block.
@safe nonisolated final class TLSSession {
    /// How reading stopped.
    enum ReadEnd: Equatable {
        /// All that came in was read.
        case needsMore
        /// The peer said that nothing follows (close_notify).
        case closed
        case failed(TLSFailure)
    }

    /// A TLS record holds no more.
    private static let recordBytes = 16 * 1024
    /// A buffer that was larger is not kept.
    private static let keptBytes = 4 * 1024

    private let ssl: OpaquePointer
    // Owned by `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// Whose certificate it is, in errors.
    private let peer: String
    private let context: TLSContext

    /// Prepares a client session with the server that has the name or the address `host`.
    convenience init(context: TLSContext, host: String, peer: String = "the upstream") throws(TLSFailure) {
        try self.init(context, peer: peer)
        unsafe SSL_set_connect_state(ssl)
        try expect(host)
    }

    /// Prepares a session with a client that has connected.
    convenience init(accepting context: TLSContext) throws(TLSFailure) {
        try self.init(context, peer: "the client")
        unsafe SSL_set_accept_state(ssl)
    }

    private init(_ context: TLSContext, peer: String) throws(TLSFailure) {
        self.context = context
        self.peer = peer
        OpenSSLError.clear()
        guard let ssl = unsafe SSL_new(context.pointer),
            let input = unsafe BIO_new(BIO_s_mem()), let output = unsafe BIO_new(BIO_s_mem())
        else { throw TLSFailure(error: "OpenSSL does not start: \(OpenSSLError.takeReason())") }
        unsafe (self.ssl, self.input, self.output) = (ssl, input, output)
        unsafe SSL_set_bio(ssl, input, output)
        // An empty input means "later", not "the end".
        unsafe BIO_ctrl(input, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
    }

    deinit {
        unsafe SSL_free(ssl)
    }

    /// Says whom the certificate must name; only names go into SNI (RFC 6066 §3).
    private func expect(_ host: String) throws(TLSFailure) {
        let isSet: Bool
        if IPAddress.isLiteral(host) {
            let parameters = unsafe SSL_get0_param(ssl)
            isSet = unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1
        } else {
            // The dot that makes a name absolute is no part of a certificate's.
            let name = host.hasSuffix(".") ? String(host.dropLast()) : host
            unsafe SSL_set_hostflags(ssl, CUnsignedInt(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            let isSent = unsafe name.withCString { text in
                // The macro SSL_set_tlsext_host_name; OpenSSL copies the text.
                let argument = unsafe UnsafeMutableRawPointer(mutating: text)
                let kind = Int(TLSEXT_NAMETYPE_host_name)
                return unsafe SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, kind, argument) == 1
            }
            isSet = unsafe isSent && SSL_set1_host(ssl, name) == 1
        }
        guard isSet else {
            throw TLSFailure(error: "\(host) cannot be verified: \(OpenSSLError.takeReason())")
        }
    }

    /// The version agreed on, such as `TLSv1.3`.
    var version: String { unsafe String(cString: SSL_get_version(ssl)) }

    /// Hands over what the network brought.
    func receive(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            // A memory BIO takes everything.
            _ = unsafe BIO_write(input, buffer.baseAddress, CInt(clamping: buffer.count))
        }
    }

    /// Goes on with the handshake as far as the input allows; true once it is complete.
    func handshake() throws(TLSFailure) -> Bool {
        OpenSSLError.clear()
        let status = unsafe SSL_do_handshake(ssl)
        if status == 1 { return true }
        switch unsafe SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return false
        default: throw failure()
        }
    }

    /// Decrypts all that came in, lending each piece to `body` until it returns false.
    func read(_ body: (Span<UInt8>) -> Bool) -> ReadEnd {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TLSSession.recordBytes) { buffer in
            while true {
                OpenSSLError.clear()
                let count = unsafe SSL_read(ssl, buffer.baseAddress, CInt(buffer.count))
                guard count > 0 else { return readEnd(count) }
                let bytes = unsafe UnsafeBufferPointer(rebasing: buffer[..<Int(count)])
                guard body(unsafe bytes.span) else { return .needsMore }
            }
        }
    }

    private func readEnd(_ status: CInt) -> ReadEnd {
        switch unsafe SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .needsMore
        case SSL_ERROR_ZERO_RETURN: .closed
        default: .failed(failure())
        }
    }

    /// Encrypts `bytes`; they come out of `takeOutput`.
    func write(_ bytes: [UInt8]) throws(TLSFailure) { try write(bytes.span) }

    func write(_ bytes: Span<UInt8>) throws(TLSFailure) {
        var rest = bytes
        while !rest.isEmpty {
            OpenSSLError.clear()
            let count = unsafe rest.withUnsafeBufferPointer { buffer in
                unsafe SSL_write(ssl, buffer.baseAddress, CInt(clamping: buffer.count))
            }
            guard count > 0 else { throw failure() }
            rest = rest.extracting(Int(count)...)
        }
    }

    /// The certificate that the peer has shown, in DER; nil: none.
    var peerCertificate: [UInt8]? {
        guard let certificate = unsafe SSL_get1_peer_certificate(ssl) else { return nil }
        defer { unsafe X509_free(certificate) }
        return unsafe CertificateFile.encoding(of: certificate)
    }

    /// Says that nothing follows (close_notify).
    func close() {
        OpenSSLError.clear()
        unsafe SSL_shutdown(ssl)
        OpenSSLError.clear()
    }

    /// What the network is to carry now, in order.
    func takeOutput() -> [UInt8] {
        let pending = unsafe BIO_ctrl(output, BIO_CTRL_PENDING, 0, nil)
        guard pending > 0 else { return [] }
        defer { if pending > TLSSession.keptBytes { releaseOutput() } }
        return [UInt8](capacity: pending) { target in
            unsafe target.withUnsafeMutableBufferPointer { buffer, count in
                count = unsafe max(0, Int(BIO_read(output, buffer.baseAddress, CInt(clamping: pending))))
            }
        }
    }

    /// Gives back the memory of what was taken, which OpenSSL would keep for as long as the session lasts.
    private func releaseOutput() {
        guard let empty = unsafe BUF_MEM_new() else { return }
        // The macro BIO_set_mem_buf: frees what there was, and owns the new one from now on.
        unsafe BIO_ctrl(output, BIO_C_SET_BUF_MEM, Int(BIO_CLOSE), empty)
    }

    /// The certificate's fault if it was one, else what OpenSSL says.
    private func failure() -> TLSFailure {
        let verification = unsafe SSL_get_verify_result(ssl)
        guard verification != Int(X509_V_OK) else {
            let isPlainHTTP = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST
            return TLSFailure(error: "TLS: \(OpenSSLError.takeReason())", isPlainHTTP: isPlainHTTP)
        }
        OpenSSLError.clear()
        let text = unsafe X509_verify_cert_error_string(verification).map { unsafe String(cString: $0) }
        let hint = TLSSession.isOfUnknownAuthority(verification) ? context.authorityHint : nil
        let end = hint.map { "; \($0)" } ?? ""
        return TLSFailure(error: "\(peer)'s certificate was refused: \(text ?? "unknown reason")\(end)")
    }

    private static func isOfUnknownAuthority(_ verification: Int) -> Bool {
        switch CInt(clamping: verification) {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            true
        default:
            false
        }
    }
}
