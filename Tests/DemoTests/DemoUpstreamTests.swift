import BridgeCore
import BridgeIO
import Demo
import Testing
import WebSocketProtocol

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `The upstream of the demo` {
    @Test(arguments: [
        Message(.text, Array("héllo".utf8)), Message(.binary, [0, 255, 10]), Message(.text, []),
        Message(.binary, [UInt8](repeating: 7, count: 1 << 20)),
    ])
    func `sends a message back as it came`(message: Message) throws {
        let scene = try DemoScene()
        let client = try scene.connect()
        client.send(message)
        scene.run { client.events.count == 2 }
        #expect(client.events == [.opened(subprotocol: nil, compression: false), .message(message)])
    }

    @Test func `ticks to every client, counted since its start`() throws {
        let scene = try DemoScene { $0.tickInterval = .milliseconds(1) }
        let first = try scene.connect()
        scene.run { first.messages.count >= 2 }
        let second = try scene.connect()
        scene.run { second.messages.count >= 2 }
        let ticks = first.messages.map { String(decoding: $0.bytes, as: UTF8.self) }
        let start = try #require(ticks.first?.dropFirst(8).prefix { $0 != "," })
        let number = try #require(Int(start))
        #expect(first.messages.allSatisfy { $0.kind == .text })
        let expected = (number..<number + ticks.count).map {
            #"{"tick":\#($0),"time":"2026-11-30T08:00:00.123Z"}"#
        }
        #expect(ticks == expected)
        #expect(second.texts == Array(ticks.drop { $0 != second.texts.first }.prefix(second.texts.count)))
    }

    @Test func `serves several clients, each by itself`() throws {
        let scene = try DemoScene()
        let clients = try (0..<3).map { _ in try scene.connect() }
        for (number, client) in clients.enumerated() { client.send(Message(.text, [UInt8(48 + number)])) }
        scene.run { clients.allSatisfy { !$0.messages.isEmpty } }
        #expect(clients.map(\.texts) == [["0"], ["1"], ["2"]])
        clients[0].drop()
        clients[1].send(Message(.text, Array("still here".utf8)))
        scene.run { clients[1].messages.count == 2 }
        #expect(clients[1].texts == ["1", "still here"])
    }

    @Test func `answers a ping with its payload`() throws {
        let scene = try DemoScene()
        let client = try scene.connect()
        _ = client.socket?.sendPing([1, 2, 3])
        client.socket?.flush()
        scene.run { client.events.count == 2 }
        #expect(client.events.last == .pong([1, 2, 3]))
    }

    @Test func `agrees to the first subprotocol`() throws {
        let client = try DemoScene().connect(subprotocols: ["b", "a"])
        #expect(client.events == [.opened(subprotocol: "b", compression: false)])
    }

    @Test(arguments: [1000, 1001, 4321, nil] as [UInt16?])
    func `answers a close frame with its code and hangs up`(code: UInt16?) throws {
        let scene = try DemoScene()
        let client = try scene.connect()
        client.socket?.sendClose(code: code, reason: "bye")
        client.socket?.flush()
        scene.run { client.isOver }
        #expect(client.events.dropFirst() == [.closeFrame(code: code, reason: ""), .ended(error: nil)])
    }

    @Test func `refuses a message that is too big with 1009`() throws {
        let scene = try DemoScene { $0.maximumMessageBytes = 1000 }
        let client = try scene.connect()
        client.send(Message(.binary, [UInt8](repeating: 0, count: 1001)))
        scene.run { client.isOver }
        #expect(client.events.dropFirst().first == .closeFrame(code: 1009, reason: "message too big"))
    }

    @Test func `goes away when it is let go of`() throws {
        let scene = try DemoScene()
        let client = try scene.connect()
        scene.endUpstream()
        scene.run { client.isOver }
        #expect(client.events.count == 2)
    }

    @Test func `lets no more clients in than it may`() throws {
        let scene = try DemoScene { $0.maximumClients = 1 }
        let first = try scene.connect()
        let second = try scene.connectRaw()
        scene.run { second.hasEnded }
        #expect(second.bytes == [])
        first.send(Message(.text, Array("mine".utf8)))
        scene.run { !first.messages.isEmpty }
        first.drop()
        // The place is free once the server has seen that, which this client's wait gives it time for.
        var third = try scene.connect()
        while third.isOver { third = try scene.connect() }
        #expect(third.events == [.opened(subprotocol: nil, compression: false)])
    }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `A stranger to the demo's upstream` {
    private let upgrade = """
        GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
        """

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
        ("GET / HTTP/1.0\r\n\r\n", "400 Bad Request"),
        ("GOT / HTTP/1.1\r\n\r\n", "400 Bad Request"),
        ("\u{16}\u{3}\u{1}", "400 Bad Request"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", "405 Method Not Allowed"),
        ("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 Method Not Allowed"),
        (
            "GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: 40_000),
            "431 Request Header Fields Too Large"
        ),
    ])
    func `is told over plain HTTP what is wrong`(request: String, status: String) throws {
        let scene = try DemoScene()
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        client.write(request)
        scene.run { client.hasEnded }
        #expect(client.text.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(client.text.contains("\r\nAllow: GET\r\n") == status.hasPrefix("405"))
        let parts = client.text.split(separator: "\r\n\r\n")
        let body = try #require(parts.count == 2 ? parts.last : nil)
        #expect(client.text.contains("Content-Length: \(body.utf8.count)\r\n"))
    }

    @Test func `may come in single bytes`() throws {
        let scene = try DemoScene()
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        // A frame right behind the handshake: "hi", masked with zeros.
        var rest = (Array(upgrade.utf8) + [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69])[...]
        scene.run {
            client.write(Array(rest.prefix(1)))
            rest = rest.dropFirst()
            return rest.isEmpty
        }
        scene.run { client.bytes.suffix(4) == [0x81, 2, 0x68, 0x69] }
        #expect(client.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(client.text.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
    }

    @Test func `is closed for a frame without a mask`() throws {
        let scene = try DemoScene()
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        client.write(Array(upgrade.utf8) + [0x81, 0])
        scene.run { client.hasEnded }
        let reason = "unmasked frame from a client"
        #expect(client.bytes.suffix(32) == [0x88, 30, 0x03, 0xEA] + reason.utf8)
    }

    @Test(arguments: ["", "GET / HTTP/1.1\r\n"])
    func `does not hold its place without a handshake`(start: String) throws {
        let scene = try DemoScene { $0.patience = .milliseconds(1) }
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        client.write(start)
        scene.run { client.hasEnded }
        #expect(client.bytes == [])
    }

    @Test func `that resets while nothing more goes out to it gives its place back`() throws {
        let scene = try DemoScene { $0.maximumClients = 1 }
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        client.write(upgrade)
        scene.run { !client.bytes.isEmpty }
        client.stopReading()
        let masked: [UInt8] = [0x82, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0]
        let payload = [UInt8](repeating: 7, count: 1 << 20)
        for _ in 0..<32 { client.write(masked + payload) }
        scene.runUntilBlocked(client)
        client.drop()
        var next = try scene.connect()
        // The place is free once the server has seen the reset.
        for _ in 0..<500 where next.isOver { next = try scene.connect() }
        #expect(next.events == [.opened(subprotocol: nil, compression: false)])
    }

    @Test func `that does not read is not read from, and gets everything once it does`() throws {
        let scene = try DemoScene()
        let client = try scene.connectRaw()
        scene.run { client.isConnected }
        client.write(upgrade)
        scene.run { !client.bytes.isEmpty }
        client.stopReading()
        // Far more than the buffers of both sockets hold: the server must have stopped reading.
        let payload = [UInt8](repeating: 7, count: 1 << 20)
        let masked: [UInt8] = [0x82, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0] + payload
        let echo: [UInt8] = [0x82, 0x7F, 0, 0, 0, 0, 0, 0x10, 0, 0] + payload
        let count = 32
        for _ in 0..<count { client.write(masked) }
        scene.runUntilBlocked(client)
        #expect(client.unwrittenBytes > 0)
        let expected = client.bytes.count + count * echo.count
        client.startReading()
        scene.run { client.bytes.count >= expected }
        #expect(client.bytes.count == expected)
        #expect(client.bytes.suffix(echo.count) == echo[...])
    }
}
