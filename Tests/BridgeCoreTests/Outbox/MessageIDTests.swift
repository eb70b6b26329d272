import BridgeCore
import Testing

@Suite struct MessageIDTests {
    @Test(arguments: ["a1b2-7", "e-0", "with-dash-18446744073709551615"])
    func `the text of an id reads back as the same id`(text: String) throws {
        let id = try #require(MessageID(text))
        #expect(id.description == text)
    }

    @Test(arguments: ["", "-", "-1", "7", "e-", "e-x", "e-1 ", "e-01", "e-+1", "e-18446744073709551616"])
    func `anything else is no id`(text: String) {
        #expect(MessageID(text) == nil)
    }
}
