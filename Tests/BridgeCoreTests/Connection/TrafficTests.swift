import BridgeCore
import Testing
import WebSocketProtocol

/// Messages and pings on an open connection.
@Suite struct TrafficTests {
    @Test func `a message is delivered`() throws {
        var world = try ConnectionWorld.open()
        let message = Message(.binary, [1, 2, 3])
        let actions = try world.socket(.message(message))
        #expect(actions == [.deliver(message, topic: nil, from: world.id)])
    }

    @Test func `a ping is answered with its payload`() throws {
        var world = try ConnectionWorld.open()
        let actions = try world.socket(.ping([7, 8]))
        #expect(actions == [.sendPong(world.id, [7, 8])])
    }

    @Test func `a batch of pings is answered one by one`() throws {
        var world = try ConnectionWorld.open()
        let pongs = try (0..<10).flatMap { try world.socket(.ping([UInt8($0)])).pongs }
        #expect(pongs == (0..<10).map { [UInt8($0)] })
    }

    @Test func `of a flood of pings only the newest waits for an answer`() throws {
        var world = try ConnectionWorld.open()
        let flood = (0..<10_000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let atOnce = try flood.flatMap { try world.socket(.ping($0)).pongs }
        #expect(atOnce.count == 64)
        let socket = SocketID(1)
        let afterwards = try (0..<100).flatMap { _ in try world.tell(.frameWritten(socket, .pong)).pongs }
        #expect(afterwards == flood.suffix(1))
    }

    @Test func `once its pongs are written a peer may ping again`() throws {
        var world = try ConnectionWorld.open()
        for _ in 0..<200 {
            let actions = try world.socket(.ping([1]))
            #expect(actions.pongs == [[1]])
            try world.tell(.frameWritten(SocketID(1), .pong))
        }
    }

    @Test func `a flood that goes on while pongs are stuck gets one pong for each that was written`() throws {
        var world = try ConnectionWorld.open()
        for _ in 0..<100 { try world.socket(.ping([0])) }
        let afterOne = try world.tell(.frameWritten(SocketID(1), .pong))
        let more = try (1...100).flatMap { try world.socket(.ping([UInt8($0)])).pongs }
        let afterTwo = try world.tell(.frameWritten(SocketID(1), .pong))
        #expect(afterOne.pongs == [[0]])
        #expect(more.isEmpty)
        #expect(afterTwo.pongs == [[100]])
    }
}
