internal import BridgeCore
internal import COpenSSL

/// A key as a file holds it, decrypted if need be.
///
/// OpenSSL never asks on the terminal for a password that is missing, and the bridge never waits for one.
@safe nonisolated final class PrivateKey {
    /// It has been asked for the password while it was read.
    private(set) var isEncrypted = false
    private let password: [UInt8]?
    private var key: OpaquePointer?

    init(password: Secret?) {
        self.password = password.map { Array($0.revealed.utf8) }
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Reads it; false leaves the reason with OpenSSL.
    func read(_ file: String) -> Bool {
        guard let input = unsafe BIO_new_file(file, "r") else { return false }
        defer { unsafe BIO_free(input) }
        unsafe key = withExtendedLifetime(self) {
            // Borrowed for the duration of the call.
            unsafe PEM_read_bio_PrivateKey(
                input,
                nil,
                { buffer, size, _, place in
                    guard let buffer = unsafe buffer, let place = unsafe place else { return -1 }
                    let key = unsafe Unmanaged<PrivateKey>.fromOpaque(place).takeUnretainedValue()
                    return unsafe key.answer(
                        into: UnsafeMutableRawBufferPointer(start: buffer, count: Int(size))
                    )
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        }
        return unsafe key != nil
    }

    /// Makes it the key of the certificate that `context` has; false leaves the reason with OpenSSL.
    func use(in context: OpaquePointer) -> Bool {
        unsafe SSL_CTX_use_PrivateKey(context, key) == 1
    }

    /// The length of the password; -1 if there is none, or no room.
    private func answer(into target: UnsafeMutableRawBufferPointer) -> CInt {
        isEncrypted = true
        guard let password, password.count <= target.count else { return -1 }
        unsafe target.copyBytes(from: password)
        return CInt(password.count)
    }
}
