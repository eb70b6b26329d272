import BridgeCore
import Testing

@Suite struct MessageIDTests {
    @Test(arguments: ["a1b2-m7", "e-m0", "with-dash-m18446744073709551615"])
    func `the text of an id reads back as the same id`(text: String) throws {
        let id = try #require(MessageID(text))
        #expect(id.description == text)
    }

    @Test(arguments: [
        "", "-", "-m1", "m7", "e-", "e-m", "e-mx", "e-m1 ", "e-m01", "e-m+1", "e-M1", "e-7",
        "e-m18446744073709551616",
    ])
    func `anything else is no id`(text: String) {
        #expect(MessageID(text) == nil)
    }

    @Test func `the id of a message is not taken for that of an event, nor the reverse`() throws {
        var random = SystemRandomNumberGenerator()
        let epoch = Epoch(startedAt: WallTime(millisecondsSince1970: 1), random: &random)
        let message = MessageID(epoch: epoch.text, number: 7)
        let event = EventID(epoch: epoch, sequence: 7)
        #expect(EventID(text: message.description) == nil)
        #expect(StartPosition(since: message.description) == nil)
        #expect(MessageID(event.text) == nil)
    }
}
