/// What a session is called inside the bridge: no secret, and of no use to a client alone.
package struct SessionKey: Hashable, Sendable {
    let number: UInt64
}

/// What the cookie of a session carries: which session is meant, and a proof that only its browser has.
///
/// Sessions are found by the part that is no secret, and the proof is compared in constant time, so how long that
/// takes tells nothing about either.
struct SessionTicket: Sendable {
    let key: SessionKey
    let proof: Secret

    /// Draws a new one, of 256 bits that nobody can guess where `random` is the system's.
    init(random: inout some RandomNumberGenerator) {
        key = SessionKey(number: random.next())
        proof = Secret((0..<4).map { _ in SessionTicket.hexadecimal(random.next()) }.joined())
    }

    /// Reads a cookie's value; nil for what no ticket looks like.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == SessionTicket.keyLength + SessionTicket.proofLength,
            bytes.allSatisfy(SessionTicket.isDigit),
            let number = UInt64(String(decoding: bytes[..<SessionTicket.keyLength], as: UTF8.self), radix: 16)
        else { return nil }
        key = SessionKey(number: number)
        proof = Secret(String(decoding: bytes[SessionTicket.keyLength...], as: UTF8.self))
    }

    /// As the cookie has it.
    var revealed: String { SessionTicket.hexadecimal(key.number) + proof.revealed }

    // In hexadecimal digits.
    private static let keyLength = 16
    private static let proofLength = 64

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: keyLength - digits.utf8.count) + digits
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
