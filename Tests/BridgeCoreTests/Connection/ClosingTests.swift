import BridgeCore
import Testing
import WebSocketProtocol

@Suite struct ClosingTests {
    @Test(arguments: [1000, 1001, 1011, 1012, 1013, 1014, 3000, 4999] as [UInt16])
    func `a close by the peer is echoed by its code and recorded exactly`(code: UInt16) throws {
        var world = try ConnectionWorld.open()
        let echo = try world.socket(.closeFrame(code: code, reason: "maintenance"))
        #expect(echo.first == .sendClose(world.id, code: code, reason: ""))
        #expect(echo.records.isEmpty)
        let actions = try world.socket(.ended(error: nil))
        let closed = Lifecycle.closed(code: code, reason: "maintenance", clean: true, by: .server)
        #expect(actions.records.first == closed)
        #expect(actions.contains(.returnInFlight(closeCode: code)))
    }

    @Test func `a close frame without a code is echoed without one and counts as 1005`() throws {
        var world = try ConnectionWorld.open()
        let echo = try world.socket(.closeFrame(code: nil, reason: ""))
        let actions = try world.socket(.ended(error: nil))
        #expect(echo.first == .sendClose(world.id, code: nil, reason: ""))
        #expect(actions.records.first == .closed(code: 1005, reason: "", clean: true, by: .server))
    }

    @Test(arguments: [nil, "reset by peer"])
    func `an end without a close frame counts as 1006`(error: String?) throws {
        var world = try ConnectionWorld.open()
        let actions = try world.socket(.ended(error: error))
        #expect(actions.records.first == .closed(code: 1006, reason: "", clean: false, by: .server))
        #expect(actions.contains(.returnInFlight(closeCode: nil)))
    }

    @Test func `a peer that closed but keeps the stream open is dropped in time`() throws {
        var world = try ConnectionWorld.open()
        try world.socket(.closeFrame(code: 1000, reason: ""))
        let early = try world.advance(.milliseconds(4999))
        let due = try world.advance(.milliseconds(1))
        #expect(early.isEmpty)
        #expect(due.first == .drop(SocketID(1)))
        #expect(due.records.first == .closed(code: 1000, reason: "", clean: true, by: .server))
    }

    @Test(arguments: [(1002, "reserved bit"), (1007, "not UTF-8"), (1009, "too big")] as [(UInt16, String)])
    func `a violation is answered with its code and recorded as ours`(code: UInt16, reason: String) throws {
        var world = try ConnectionWorld.open()
        let answer = try world.socket(.violation(WebSocketFailure(code, reason)))
        #expect(answer.first == .sendClose(world.id, code: code, reason: reason))
        let actions = try world.advance(.seconds(5))
        #expect(actions.first == .drop(SocketID(1)))
        #expect(actions.records.first == .closed(code: code, reason: reason, clean: false, by: .bridge))
        #expect(actions.contains(.returnInFlight(closeCode: nil)))
    }

    @Test func `the outbox holds from the first close frame on`() throws {
        var world = try ConnectionWorld.open()
        let actions = try world.socket(.closeFrame(code: 1000, reason: ""))
        #expect(actions.contains(.notReady))
        #expect(!world.isReady)
    }

    @Test func `a close code to stop on leaves the connection closed`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.stopOnCloseCodes = [1000...1000, 4000...4099] }
        try world.socket(.closeFrame(code: 4042, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
        #expect(world.records.reconnecting.isEmpty)
        #expect(world.lastWords == ["its close code 4042 is one of `reconnect.stopOnCloseCodes`"])
    }

    @Test func `a close code beside those is dialled again`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.stopOnCloseCodes = [1000...1000, 4000...4099] }
        try world.socket(.closeFrame(code: 4100, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .waiting)
        #expect(world.lastWords.isEmpty)
    }

    @Test func `without reconnecting it is said that it stays closed`() throws {
        var world = try ConnectionWorld.open { $0.reconnect.enabled = false }
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
        #expect(world.lastWords == ["`reconnect.enabled` is false"])
    }

    @Test func `nothing is said of a user's own end`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.ended(error: nil))
        #expect(world.machine.standing == .closed)
        #expect(world.lastWords.isEmpty)
    }

    @Test func `what the peer still sends is delivered until its close frame`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.socket(.text("last words"))
        try world.socket(.closeFrame(code: 1000, reason: ""))
        try world.socket(.text("after the end"))
        #expect(world.delivered == [Message(.text, Array("last words".utf8))])
    }

    @Test func `pings are answered until the peer's close frame`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let before = try world.socket(.ping([1]))
        try world.socket(.closeFrame(code: 1000, reason: ""))
        let after = try world.socket(.ping([2]))
        #expect(before.pongs == [[1]])
        #expect(after.isEmpty)
    }

    @Test func `a peer that breaks the protocol while closing is dropped`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        let actions = try world.socket(.violation(WebSocketFailure(1002, "reserved bit")))
        #expect(actions.drops == 1)
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .user)])
    }

    @Test(arguments: [1000, 1012, 3000, 4999] as [UInt16])
    func `closes that cross are clean, with the code of the peer and one close frame of ours`(
        code: UInt16
    ) throws {
        var world = try ConnectionWorld.open()
        let ours = try world.tell(.disconnectRequested(code: 1001, reason: "ours"))
        let theirs = try world.socket(.closeFrame(code: code, reason: "theirs"))
        let actions = try world.socket(.ended(error: nil))
        #expect(ours.contains(.sendClose(world.id, code: 1001, reason: "ours")))
        #expect(theirs.isEmpty)
        #expect(actions.records == [.closed(code: code, reason: "theirs", clean: true, by: .user)])
    }

    /// As when TLS ends without close_notify, or the peer resets what it has no more use for.
    @Test func `how the stream ends after the close frames is nothing to the record`() throws {
        var world = try ConnectionWorld.open()
        try world.socket(.closeFrame(code: 4001, reason: "bye"))
        let actions = try world.socket(.ended(error: "cut off"))
        #expect(actions.records.first == .closed(code: 4001, reason: "bye", clean: true, by: .server))
    }

    @Test func `a peer that talks on instead of closing gets no more time`() throws {
        var world = try ConnectionWorld.open()
        try world.tell(.disconnectRequested(code: 1000, reason: ""))
        try world.advance(.milliseconds(4999))
        try world.socket(.text("one more thing"))
        let actions = try world.advance(.milliseconds(1))
        #expect(actions.first == .drop(SocketID(1)))
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .user)])
    }

    @Test func `only the first close frame of a peer counts`() throws {
        var world = try ConnectionWorld.open()
        try world.socket(.closeFrame(code: 4001, reason: "first"))
        let second = try world.socket(.closeFrame(code: 4002, reason: "second"))
        let actions = try world.socket(.ended(error: nil))
        #expect(second.isEmpty)
        #expect(actions.records.first == .closed(code: 4001, reason: "first", clean: true, by: .server))
    }
}
