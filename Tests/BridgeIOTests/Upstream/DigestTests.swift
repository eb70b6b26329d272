import BridgeIO
import Testing

@Suite struct `Digests and random numbers` {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("ab", "YWI="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `base64 is that of RFC 4648`(text: String, expected: String) {
        #expect(Digests.base64(Array(text.utf8)) == expected)
    }

    @Test func `SHA-1 is that of RFC 3174`() {
        let digest = Digests.sha1(Array("abc".utf8))
        let expected = "A9993E364706816ABA3E25717850C26C9CD0D89D"
        #expect(
            digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() == expected
        )
    }

    @Test func `the accept value is that of RFC 6455 1.3`() {
        #expect(Digests.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `random numbers do not repeat over batches or generators`() {
        var first = SecureRandom()
        var second = SecureRandom()
        let numbers = (0..<200).map { _ in first.next() } + (0..<200).map { _ in second.next() }
        #expect(Set(numbers).count == numbers.count)
        #expect(first.bytes(16).count == 16)
    }
}
