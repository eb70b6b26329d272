internal import COpenSSL

/// Unpredictable numbers from OpenSSL, drawn in batches: a mask for each message is too small a question.
package nonisolated struct SecureRandom: RandomNumberGenerator, Sendable {
    private static let batch = 32
    private var pool: [UInt64] = []

    package init() {}

    package mutating func next() -> UInt64 {
        if pool.isEmpty { refill() }
        return pool.removeLast()
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    private mutating func refill() {
        pool = [UInt64](repeating: 0, count: SecureRandom.batch)
        let status = unsafe pool.withUnsafeMutableBytes { bytes in
            unsafe RAND_bytes(bytes.baseAddress, CInt(bytes.count))
        }
        // Guessable masks and keys are worse than none: there is nothing to go on with.
        precondition(status == 1, "OpenSSL has no random numbers")
    }
}
