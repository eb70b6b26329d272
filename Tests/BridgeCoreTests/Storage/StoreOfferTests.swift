import BridgeCore
import Testing
import WebSocketProtocol

/// Which requests become one offer.
struct StoreOfferTests {
    private let orders = StoredConnectionID(number: 1)
    private let trades = StoredConnectionID(number: 2)

    private func messages(_ numbers: ClosedRange<UInt64>) -> [StoredMessage] {
        numbers.map { number in
            StoredMessage(
                number: number,
                queuedAt: WallTime(millisecondsSince1970: 0),
                message: Message(.text, [UInt8(number)])
            )
        }
    }

    private func key(_ first: UInt64) -> StoredKey {
        let time = WallTime(millisecondsSince1970: 0)
        return StoredKey(key: "k", fingerprint: [], firstUse: time, firstMessage: first, count: 1)
    }

    @Test func `messages without a key that follow one another are one offer, and no others`() {
        var offers: [StoreOffer] = []
        offers.append(messages(1...2), of: orders, key: nil)
        offers.append(messages(3...3), of: orders, key: nil)
        #expect(offers == [.messages(messages(1...3), of: orders, key: nil)])
        // A number is missing, as what is taken back is a range; another connection; a key; behind one with a key;
        // nothing but a key.
        offers.append(messages(5...5), of: orders, key: nil)
        offers.append(messages(6...6), of: trades, key: nil)
        offers.append(messages(7...7), of: trades, key: key(7))
        offers.append(messages(8...8), of: trades, key: nil)
        offers.append([], of: trades, key: key(9))
        offers.append(messages(9...9), of: trades, key: nil)
        #expect(
            offers == [
                .messages(messages(1...3), of: orders, key: nil),
                .messages(messages(5...5), of: orders, key: nil),
                .messages(messages(6...6), of: trades, key: nil),
                .messages(messages(7...7), of: trades, key: key(7)),
                .messages(messages(8...8), of: trades, key: nil), .messages([], of: trades, key: key(9)),
                .messages(messages(9...9), of: trades, key: nil),
            ]
        )
    }
}
