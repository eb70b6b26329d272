internal import COpenSSL

/// What OpenSSL's error queue of this thread says, emptied by the asking.
nonisolated enum OpenSSLError {
    /// To be called before each call whose errors will be asked for, so that no old one answers.
    static func clear() {
        ERR_clear_error()
    }

    /// The reason of the newest error, such as "wrong version number".
    static func takeReason() -> String { take(ERR_peek_last_error()) }

    /// The reason of the oldest error: where a file cannot be read, the newer ones say no more than that.
    static func takeCause() -> String { take(ERR_peek_error()) }

    private static func take(_ code: CUnsignedLong) -> String {
        ERR_clear_error()
        guard code != 0 else { return "unexpected end of the connection" }
        // Errors of the system, such as a missing file, have no reason string of OpenSSL's own.
        guard let reason = unsafe ERR_reason_error_string(code) else { return systemReason(code) }
        return unsafe String(cString: reason)
    }

    private static func systemReason(_ code: CUnsignedLong) -> String {
        var text = [CChar](repeating: 0, count: 256)
        unsafe ERR_error_string_n(code, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: ":").last.map(String.init) ?? ""
    }
}
