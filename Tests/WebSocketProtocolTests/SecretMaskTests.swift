import Testing
import WebSocketProtocol

@Suite struct `A mask of secrets` {
    private func shown(
        _ text: String,
        hiding secrets: [String],
        maximumBytes: Int = 1000,
        isCut: Bool = false
    ) -> String {
        SecretMask(secrets).shown(Array(text.utf8), maximumBytes: maximumBytes, isCut: isCut)
    }

    @Test(arguments: [
        (["s3cret"], "it is s3cret, s3cret!", "it is ***, ***!"),
        (["Bearer s3cret"], "Bearer s3cret", "***"),
        (["Bearer s3cret"], "s3cret", "***"),
        (["key=s3cret;other=more"], "s3cret more", "*** ***"),
        (["wss://h/feed?ticket=s3cret\n"], "at wss://h/feed, ticket s3cret", "at ***, *** ***"),
        (["a%20s3cret"], "a s3cret", "***"),
        (["abc", "abcdef"], "abcdef abc ab", "*** *** ab"),
        (["ab", ""], "ab", "ab"),
        ([], "text", "text"),
        (["s3cret"], "", ""),
    ])
    func `hides them as a whole and in parts`(secrets: [String], text: String, expected: String) {
        #expect(shown(text, hiding: secrets) == expected)
    }

    @Test func `shows no more than it is to`() {
        #expect(shown("abcdef", hiding: [], maximumBytes: 3) == "abc")
        #expect(shown("s3cret and more", hiding: ["s3cret"], maximumBytes: 2) == "**")
    }

    @Test(arguments: ["s", "s3cre"])
    func `does not show the beginning of a secret where the text was cut`(beginning: String) {
        // Masks are shorter than what they hide, so that the end of the text would be reached.
        let text = String(repeating: "s3cret", count: 20) + beginning
        let cut = shown(text, hiding: ["s3cret"], maximumBytes: 100, isCut: true)
        #expect(cut == String(repeating: "***", count: 20))
        let whole = shown(text, hiding: ["s3cret"], maximumBytes: 100)
        #expect(whole == cut + beginning)
    }

    @Test func `without secrets a cut text is shown as far as it goes`() {
        #expect(shown("abc", hiding: [], isCut: true) == "abc")
    }
}
