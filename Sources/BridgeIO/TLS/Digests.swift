internal import COpenSSL
internal import WebSocketProtocol

/// The hashes and encodings that the handshake needs, by OpenSSL.
package nonisolated enum Digests {
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, count: 20, EVP_sha1())
    }

    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe digest(bytes, count: 32, EVP_sha256())
    }

    private static func digest(_ bytes: [UInt8], count: Int, _ algorithm: OpaquePointer?) -> [UInt8] {
        [UInt8](capacity: count) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, written in
                var size: CUnsignedInt = 0
                let status = unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, &size, algorithm, nil)
                precondition(status == 1 && size == count, "OpenSSL lacks a digest")
                written = count
            }
        }
    }

    /// RFC 4648 §4, with padding.
    package static func base64(_ bytes: [UInt8]) -> String {
        // Four characters for three bytes, and the NUL that OpenSSL writes after them.
        let capacity = (bytes.count + 2) / 3 * 4 + 1
        let encoded = [UInt8](capacity: capacity) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, count in
                count = unsafe Int(EVP_EncodeBlock(buffer.baseAddress, bytes, CInt(clamping: bytes.count)))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The `Sec-WebSocket-Accept` that proves that a server read `key` (RFC 6455 §4.2.2).
    package static func accept(for key: String) -> String {
        base64(sha1(ClientHandshake.acceptInput(for: key)))
    }
}
