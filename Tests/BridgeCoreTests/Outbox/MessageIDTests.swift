import BridgeCore
import Testing

@Suite struct MessageIDTests {
    @Test(arguments: [
        "0123456789ab-m1.7", "zzzzzzzzzzzz-m0.0", "000000000001-m12.18446744073709551615",
        "000000000001-m18446744073709551615.1",
    ])
    func `the text of an id reads back as the same id`(text: String) throws {
        let id = try #require(MessageID(text))
        #expect(id.description == text)
    }

    @Test(arguments: [
        "", "-", "-m1.1", "m1.7", "000000000001", "000000000001-", "000000000001-m", "000000000001-mx",
        "000000000001-m7", "000000000001-m1.", "000000000001-m.1", "000000000001-m1.2.3",
        "000000000001-m1.x", "000000000001-m1-1", "000000000001-m1.1 ", "000000000001-m1.01",
        "000000000001-m01.1", "000000000001-m1.+1", "000000000001-m+1.1", "000000000001-M1.1",
        "000000000001-1.7", "000000000001-m1.18446744073709551616",
        "000000000001-m18446744073709551616.1", "00000000001-m1.1", "00000000000u-m1.1",
        "000000000001--m1.1",
    ])
    func `anything else is no id`(text: String) {
        #expect(MessageID(text) == nil)
    }

    @Test func `the id of a message is not taken for that of an event, nor the reverse`() throws {
        var random = SystemRandomNumberGenerator()
        let epoch = Epoch(startedAt: WallTime(millisecondsSince1970: 1), random: &random)
        let message = MessageID(outbox: OutboxID(epoch: epoch, number: 7), number: 7)
        let event = EventID(epoch: epoch, sequence: 7)
        #expect(EventID(text: message.description) == nil)
        #expect(StartPosition(since: message.description) == nil)
        #expect(MessageID(event.text) == nil)
    }
}
