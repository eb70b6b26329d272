import BridgeCore
import BridgeIO
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Event loop` {
    private let loop = Loop()

    @Test func `timers fire in the order of their delays, never early, and a cancelled one never`() {
        var fired: [Int] = []
        let started = loop.now
        var late: Duration = .zero
        let cancelled = loop.startTimer(after: .milliseconds(1)) { fired.append(0) }
        let second = loop.startTimer(after: .milliseconds(20)) {
            fired.append(2)
            late = loop.now - started
        }
        let first = loop.startTimer(after: .milliseconds(5)) { fired.append(1) }
        var dropped: LoopTimer? = loop.startTimer(after: .milliseconds(1)) { fired.append(3) }
        cancelled.cancel()
        dropped = nil
        loop.run()
        #expect(fired == [1, 2])
        #expect(late >= .milliseconds(20))
        withExtendedLifetime((first, second, dropped)) {}
    }

    @Test func `a callback of the pool comes back to the main thread`() throws {
        var answer: NameLookup.Answer?
        let lookup = loop.resolve(host: "localhost", port: 8080) { answer = $0 }
        loop.run()
        guard case .addresses(let addresses) = try #require(answer) else {
            Issue.record("localhost does not resolve")
            return
        }
        #expect(addresses.contains { $0.host == "127.0.0.1" && $0.port == 8080 || $0.host == "::1" })
        withExtendedLifetime(lookup) {}
    }

    @Test func `a name that does not exist is a failure`() throws {
        var answer: NameLookup.Answer?
        let lookup = loop.resolve(host: "name.invalid", port: 1) { answer = $0 }
        loop.run()
        guard case .failed = try #require(answer) else {
            Issue.record("name.invalid resolves")
            return
        }
        withExtendedLifetime(lookup) {}
    }

    @Test func `a lookup that was let go of is not answered`() {
        var lookup: NameLookup? = loop.resolve(host: "localhost", port: 1) { _ in Issue.record("answered") }
        lookup = nil
        loop.run()
        #expect(lookup == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("2001:db8::5", "[2001:db8::5]:80"),
    ])
    func `an address literal is written as it was read`(literal: String, description: String) throws {
        let address = try #require(SocketAddress(literal: literal, port: 80))
        #expect(address.description == description)
        #expect(address.host == literal)
        #expect(address.port == 80)
    }

    @Test(arguments: ["", "localhost", "256.0.0.1", "1.2.3", "::g", "127.0.0.1 "])
    func `what is no literal is refused`(text: String) {
        #expect(SocketAddress(literal: text, port: 80) == nil)
    }

    @Test func `bytes cross a connection in both directions and its end is seen`() throws {
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        var server: SocketStream?
        var echoed: [UInt8] = []
        var ends: [String?] = []
        let listener = try TCPListener(loop: loop, address: local) { stream in
            server = stream
            stream.onReceive = { [unowned stream] bytes in _ = stream.write(bytes.copied()) }
            stream.onEnd = { _ in server = nil }
            stream.startReading()
        }
        // More than the kernel buffers, so that a part of it is queued.
        let payload = [UInt8](repeating: 7, count: 8 << 20)
        var client: SocketStream? = SocketStream(loop: loop)
        client?.onReceive = { bytes in
            echoed += bytes.copied()
            if echoed.count == payload.count { client?.shutdownWriting() }
        }
        client?.onEnd = { error in
            ends.append(error)
            client = nil
            loop.stop()
        }
        client?.connect(to: try #require(listener.address)) { error in
            #expect(error == nil)
            client?.startReading()
            _ = client?.write(payload)
        }
        loop.run()
        #expect(echoed == payload)
        #expect(ends == [nil])
        #expect(server == nil)
    }

    /// A connection on whose server side `write` was called and which nobody reads.
    private func unread(_ write: (SocketStream) -> Void) throws -> (
        server: SocketStream, client: SocketStream
    ) {
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        var server: SocketStream?
        let listener = try TCPListener(loop: loop, address: local) { [loop] stream in
            server = stream
            loop.stop()
        }
        let client = SocketStream(loop: loop)
        client.connect(to: try #require(listener.address)) { error in #expect(error == nil) }
        loop.run()
        let accepted = try #require(server)
        write(accepted)
        return (accepted, client)
    }

    private func turn(for duration: Duration) {
        let timer = loop.startTimer(after: duration) { [loop] in loop.stop() }
        loop.run()
        withExtendedLifetime(timer) {}
    }

    @Test func `a reset is told once, also to one who does not read`() throws {
        let payload = [UInt8](repeating: 7, count: 32 << 20)
        var (server, client): (SocketStream, SocketStream?) = try unread { #expect(!$0.write(payload)) }
        var ends: [String?] = []
        server.onDrain = { Issue.record("drained") }
        server.onEnd = { [loop] error in
            ends.append(error)
            loop.stop()
        }
        turn(for: .milliseconds(20))
        #expect(ends == [])
        client = nil
        loop.run()
        #expect(ends.count == 1)
        #expect(ends.first != .some(nil))
        server.startReading()
        turn(for: .milliseconds(20))
        #expect(ends.count == 1)
        withExtendedLifetime(client) {}
    }

    @Test func `with a limit of unsent bytes less waits in the kernel, where nothing overtakes it`() throws {
        let payload = [UInt8](repeating: 7, count: 32 << 20)
        let unlimited = try unread { _ = $0.write(payload) }
        turn(for: .milliseconds(50))
        let limited = try unread {
            $0.limitUnsent(bytes: 128 * 1024)
            _ = $0.write(payload)
        }
        turn(for: .milliseconds(50))
        #expect(limited.server.unwrittenBytes > unlimited.server.unwrittenBytes)
        withExtendedLifetime((limited.client, unlimited.client)) {}
    }

    @Test func `a refused connection says so`() throws {
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        var listener: TCPListener? = try TCPListener(loop: loop, address: local) { _ in }
        let address = try #require(listener?.address)
        listener = nil
        loop.run()
        var outcome: [String?] = []
        let client = SocketStream(loop: loop)
        client.connect(to: address) { error in
            outcome.append(error)
            loop.stop()
        }
        loop.run()
        #expect(outcome == ["connection refused"])
    }

    @Test func `an address in use is a failure`() throws {
        let local = try #require(SocketAddress(literal: "127.0.0.1", port: 0))
        let listener = try TCPListener(loop: loop, address: local) { _ in }
        let taken = try #require(listener.address)
        #expect(throws: ListenFailure(error: "address already in use")) {
            _ = try TCPListener(loop: loop, address: taken) { _ in }
        }
    }
}
