/// Who may connect to a unix socket: the permissions of its file, of which writing is the one that counts.
package struct SocketMode: Equatable, Sendable {
    package let bits: UInt16

    /// Nobody but the bridge's own user (and root).
    package static let owner = SocketMode(bits: 0o600)

    /// Three octal digits, or four that begin with 0.
    package init(text: String) throws(MalformedValue) {
        guard text.utf8.count == 3 || text.utf8.count == 4, let bits = UInt16(text, radix: 8), bits <= 0o777,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
        else { throw MalformedValue(SocketMode.expectation) }
        self.bits = bits
    }

    private init(bits: UInt16) {
        self.bits = bits
    }

    static let expectation = "the permissions of a file in octal, such as 0660"

    /// The form in which it is written.
    package var text: String {
        let digits = String(bits, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
