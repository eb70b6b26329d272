import Testing
import WebSocketProtocol

@testable import BridgeCore

/// What a request and its reply have in common.
@Suite struct `A request is identified` {
    private static func identified(_ text: String, _ pointer: String, id: String = "7") throws -> String? {
        let pointer = try #require(JSONPointer(pointer))
        let message = Message(.text, Array(text.utf8))
        return message.correlationPlace(at: pointer).flatMap { place in
            message.identified(at: place) { Array(id.utf8) }
        }.map { String(decoding: $0.message.bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        (#"{"id":1,"a":2}"#, "/id", #"{"id":1,"a":2}"#), (#"{"id":"x"}"#, "/id", #"{"id":"x"}"#),
        (#"{"id":false}"#, "/id", #"{"id":false}"#), (#"{"a":2}"#, "/id", #"{"id":7,"a":2}"#),
        ("{}", "/id", #"{"id":7}"#), (" { } ", "/id", #" {"id":7 } "#),
        (#"{"id":null}"#, "/id", #"{"id":7}"#),
        (#"{"d":{}}"#, "/d/id", #"{"d":{"id":7}}"#), (#"{"d":{"x":1}}"#, "/d/id", #"{"d":{"id":7,"x":1}}"#),
        (#"{"x":1}"#, "/d/e/id", #"{"d":{"e":{"id":7}},"x":1}"#), ("{}", "/a~1b/~0", #"{"a/b":{"~":7}}"#),
        ("{}", "/a\"b", #"{"a\"b":7}"#), (#"["1",null,"t"]"#, "/1", #"["1",7,"t"]"#),
        (#"["1",2]"#, "/1", #"["1",2]"#),
        (#"{"id":1,"id":null}"#, "/id", #"{"id":1,"id":7}"#),
    ])
    func `by its own value, or by one that is put there`(text: String, pointer: String, sent: String) throws {
        #expect(try Self.identified(text, pointer) == sent)
    }

    @Test(arguments: [
        ("x", "/id"), ("[]", "/id"), ("[]", "/0"), ("7", "/id"), (#"{"id":{}}"#, "/id"),
        (#"{"id":[1]}"#, "/id"),
        (#"{"d":1}"#, "/d/id"), (#"{"d":[]}"#, "/d/0"), (#"{"d":null}"#, "/d/id"), ("", "/id"),
        (#"{"a":1}x"#, "/id"),
    ])
    func `unless it has no room for one`(text: String, pointer: String) throws {
        #expect(try Self.identified(text, pointer) == nil)
    }

    /// A pointer of a client is as long as its request's target may be.
    @Test(arguments: [(JSONSearch.deepest, true), (JSONSearch.deepest + 1, false), (1 << 16, false)])
    func `no deeper than a document may be nested`(steps: Int, isFit: Bool) throws {
        let pointer = try #require(JSONPointer(String(repeating: "/a", count: steps)))
        let message = Message(.text, Array("{}".utf8))
        let place = message.correlationPlace(at: pointer)
        #expect((place != nil) == isFit)
        guard let place else { return }
        let sent = try #require(message.identified(at: place) { Array("7".utf8) }).message
        let again = try #require(sent.correlationPlace(at: pointer))
        #expect(sent.identified(at: again) { [] }?.message == sent)
    }

    @Test(arguments: [
        ("1", "1.0", true), ("1", "10e-1", true), ("1", #""1""#, false), (#""a""#, #""\u0061""#, true),
        ("true", "true", true),
        ("true", "false", false), ("0", "-0", true), ("12345678901234567890", "12345678901234567891", false),
    ])
    func `by values, however they are written`(one: String, other: String, areSame: Bool) throws {
        let keys = try [one, other].map { try #require(CorrelationKey(Array($0.utf8)[...])) }
        #expect((keys[0] == keys[1]) == areSame)
        #expect((Set(keys).count == 1) == areSame)
    }
}

/// Which request a message answers.
@Suite struct `A ledger of requests` {
    private static let socket = SocketID(1)

    private static func text(_ text: String) -> Message { Message(.text, Array(text.utf8)) }

    private static func key(_ number: Int) throws -> CorrelationKey {
        try #require(CorrelationKey(Array(String(number).utf8)[...]))
    }

    private static func id(_ pointer: String = "/id") throws -> Correlation {
        let place = text("{}").correlationPlace(at: try #require(JSONPointer(pointer)))
        return .member(try #require(place), .counter)
    }

    @Test func `finds each reply, in whatever order they come`() throws {
        var ledger = RequestLedger()
        let numbers = Array(1...100)
        for number in numbers {
            ledger.accepted(UInt64(number), try Self.id(number % 2 == 0 ? "/id" : "/d/ref"))
            ledger.sent(UInt64(number), try Self.key(number), on: Self.socket)
        }
        var random = SystemRandomNumberGenerator()
        for number in numbers.shuffled(using: &random) {
            let wrong = ledger.received(Self.text(#"{"id":"\#(number)","d":7}"#), on: Self.socket)
            let reply = number % 2 == 0 ? #"{"id":\#(number)}"# : #"{"d":{"ref":\#(number)}}"#
            let right = ledger.received(Self.text(reply), on: Self.socket)
            let again = ledger.received(Self.text(reply), on: Self.socket)
            #expect((wrong, right, again) == ([], [UInt64(number)], []))
        }
        #expect(ledger.isEmpty)
    }

    @Test func `knows no reply to what was not sent`() throws {
        var ledger = RequestLedger()
        ledger.accepted(1, try Self.id())
        ledger.accepted(2, .next)
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket).isEmpty)
        ledger.sent(1, try Self.key(1), on: Self.socket)
        ledger.sent(2, nil, on: Self.socket)
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket) == [1, 2])
    }

    @Test func `gives the oldest of equals the first reply, and each next message to one`() throws {
        var ledger = RequestLedger()
        for number in 1...4 as ClosedRange<UInt64> {
            ledger.accepted(number, number < 3 ? try Self.id() : .next)
            ledger.sent(number, number < 3 ? try Self.key(5) : nil, on: Self.socket)
        }
        #expect(ledger.received(Self.text(#"{"id":5}"#), on: Self.socket) == [1, 3])
        #expect(ledger.received(Message(.binary, [0xFF]), on: Self.socket) == [4])
        #expect(ledger.received(Self.text(#"{"id":5}"#), on: Self.socket) == [2])
        #expect(ledger.received(Self.text(#"{"id":5}"#), on: Self.socket).isEmpty)
    }

    @Test func `takes the answer to a heartbeat for a reply by its value alone`() throws {
        var ledger = RequestLedger()
        ledger.accepted(1, try Self.id())
        ledger.sent(1, try Self.key(1), on: Self.socket)
        ledger.accepted(2, .next)
        ledger.sent(2, nil, on: Self.socket)
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket, isNext: false) == [1])
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket, isNext: false).isEmpty)
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket) == [2])
    }

    @Test func `takes a reply on the socket that was asked on alone`() throws {
        var ledger = RequestLedger()
        for number in 1...4 as ClosedRange<UInt64> {
            ledger.accepted(number, number < 3 ? try Self.id() : .next)
            // The numbers of each socket begin with 1.
            ledger.sent(number, number < 3 ? try Self.key(1) : nil, on: SocketID(number % 2))
        }
        let reply = Self.text(#"{"id":1}"#)
        #expect(ledger.received(reply, on: SocketID(2)).isEmpty)
        #expect(ledger.received(reply, on: SocketID(0)) == [2, 4])
        #expect(ledger.received(reply, on: SocketID(0)).isEmpty)
        #expect(ledger.received(reply, on: SocketID(1)) == [1, 3])
        #expect(ledger.isEmpty)
    }

    @Test func `waits on a socket for as long as one that went out there has no end, however many there are`()
        throws
    {
        var ledger = RequestLedger()
        for number in 1...50 as ClosedRange<UInt64> {
            ledger.accepted(number, number % 2 == 0 ? .next : try Self.id())
            ledger.sent(number, number % 2 == 0 ? nil : try Self.key(1), on: SocketID(number % 3))
        }
        for number in (1...50 as ClosedRange<UInt64>).reversed() {
            let expected = (1...number).contains { $0 % 3 == number % 3 }
            #expect(ledger.waits(on: SocketID(number % 3)) == expected)
            ledger.remove(number)
        }
        let after = (0..<3 as Range<UInt64>).map { ledger.waits(on: SocketID($0)) }
        #expect(after == [false, false, false])
    }

    @Test func `forgets, and knows what went out on a socket`() throws {
        var ledger = RequestLedger()
        for number in 1...4 as ClosedRange<UInt64> { ledger.accepted(number, try Self.id()) }
        ledger.sent(1, try Self.key(1), on: SocketID(1))
        ledger.sent(2, try Self.key(2), on: SocketID(2))
        ledger.sent(3, try Self.key(1), on: SocketID(1))
        #expect(ledger.sent(on: SocketID(1)) == [1, 3])
        #expect(ledger.waits(on: SocketID(2)))
        let first = [ledger.remove(1), ledger.remove(1)]
        #expect(first == [true, false])
        #expect(ledger.received(Self.text(#"{"id":1}"#), on: Self.socket) == [3])
        ledger.remove(2)
        ledger.remove(4)
        #expect(ledger.isEmpty)
        #expect(!ledger.waits(on: SocketID(2)))
    }
}
