import BridgeCore
import Testing
import WebSocketTestSupport

@Suite struct ConsignmentTests {
    private static let time = WallTime(millisecondsSince1970: 1_000_000_000_000)
    private let sent = MessageState.sent(at: time)

    private func id(_ number: UInt64) -> MessageID { MessageID(outbox: .one, number: number) }

    private func ids(_ numbers: Range<UInt64>) -> MessageIDs {
        MessageIDs(outbox: .one, numbers: numbers)
    }

    private func consignment(_ numbers: ClosedRange<UInt64>) -> Consignment {
        Consignment(ids(Range(numbers)))
    }

    @Test func `is sent when all of its messages are`() {
        var consignment = consignment(5...6)
        consignment.ended(id(6), as: sent)
        #expect(consignment.verdict == .open)
        consignment.ended(id(5), as: sent)
        #expect(consignment.verdict == .sent)
    }

    @Test(arguments: [MessageState.expired, .dropped])
    func `is lost with the first of its messages that is`(state: MessageState) {
        var consignment = consignment(5...7)
        consignment.ended(id(6), as: state)
        consignment.ended(id(5), as: .dropped)
        #expect(consignment.verdict == .lost(id(6), state))
    }

    @Test func `passes over messages of others and second ends`() {
        var consignment = consignment(5...6)
        for number in [0, 4, 7, .max] as [UInt64] { consignment.ended(id(number), as: .dropped) }
        consignment.ended(MessageID(outbox: .another, number: 5), as: .dropped)
        consignment.ended(id(5), as: sent)
        consignment.ended(id(5), as: sent)
        consignment.ended(id(6), as: .queued)
        #expect(consignment.verdict == .open)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `knows the state of each, in whatever order they end`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...40, using: &random)
        let ids = ids(7..<7 + UInt64(count))
        var consignment = Consignment(ids)
        var states = [MessageState](repeating: .queued, count: count)
        for index in (0..<count).shuffled(using: &random).prefix(.random(in: 0...count, using: &random)) {
            let time = WallTime(millisecondsSince1970: .random(in: 0...2, using: &random))
            let ends = [MessageState.sent(at: time), .sent(at: time), .expired, .dropped]
            states[index] = ends.randomElement(using: &random) ?? .expired
            consignment.ended(ids[index], as: states[index])
            #expect(consignment.items.map(\.state) == states)
            #expect(consignment.items.map(\.id) == Array(ids))
        }
    }

    @Test func `of nothing is sent`() {
        #expect(Consignment(ids(1..<1)).verdict == .sent)
        #expect(Consignment(ids(1..<1)).answer(isList: true).text == #"{"messages":[]}"# + "\n")
    }

    @Test func `answers 202 while it waits, 200 once it is sent`() {
        var consignment = consignment(5...5)
        #expect(consignment.answer(isList: false).status == 202)
        #expect(
            consignment.answer(isList: false).text == #"{"id":"000000000001-m1.5","state":"queued"}"# + "\n"
        )
        consignment.ended(id(5), as: sent)
        #expect(consignment.answer(isList: false).status == 200)
        let expected = #"{"id":"000000000001-m1.5","state":"sent","sentAt":"2001-09-09T01:46:40.000Z"}"#
        #expect(consignment.answer(isList: false).text == expected + "\n")
    }

    @Test func `answers several with the state of each`() {
        var consignment = consignment(5...6)
        consignment.ended(id(5), as: sent)
        let expected =
            #"{"messages":[{"id":"000000000001-m1.5","state":"sent","sentAt":"2001-09-09T01:46:40.000Z"},"#
            + #"{"id":"000000000001-m1.6","state":"queued"}]}"#
        #expect(consignment.answer(isList: true).text == expected + "\n")
        #expect(consignment.answer(isList: true).status == 202)
    }

    @Test(arguments: [(MessageState.expired, "message-expired"), (.dropped, "message-dropped")])
    func `answers 409 for one that is lost, and names it`(state: MessageState, slug: String) {
        var consignment = consignment(5...6)
        consignment.ended(id(6), as: state)
        let answer = consignment.answer(isList: true)
        #expect(answer.status == 409)
        #expect(answer.slug == slug)
        #expect(answer.text.contains("000000000001-m1.6"))
    }
}
