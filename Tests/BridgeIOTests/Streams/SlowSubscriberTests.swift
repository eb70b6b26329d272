import BridgeCore
import Glibc
import Testing
import WebSocketProtocol

@testable import BridgeIO

/// One end of a pair of sockets as a subscriber's connection.
@MainActor private final class PairChannel: StreamChannel {
    let delivery = StreamDelivery.direct
    let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    func attach(_ source: any StreamSource) {}
    func wake() {}
    func end() {}
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Slow subscriber` {
    private let loop = Loop()

    private func pair() -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0)
        return (pair[0], pair[1])
    }

    private func hasRoom(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    private func read(_ descriptor: Int32, atMost limit: Int, into received: inout [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var left = limit
        while left > 0 {
            let count = unsafe recv(descriptor, &buffer, min(buffer.count, left), Int32(MSG_DONTWAIT))
            guard count > 0 else { return }
            received += buffer[..<count]
            left -= count
        }
    }

    @Test func `a comment that had to wait never lands inside an event`() throws {
        var settings = HTTPSettings()
        settings.keepAlive = .milliseconds(1)
        let hub = EventHub(loop: loop, settings: settings)
        let connection = try #require(hub.register("default", limits: HistoryLimits()))
        let (ours, theirs) = pair()
        hub.subscribe(
            PairChannel(ours),
            Subscription(
                shape: StreamShape(filter: StreamFilter(connections: ConnectionSelection(connection)))
            ),
            from: .unix,
            opening: { _, _ in }
        )
        // Comments alone fill the socket of a client that does not read.
        let untilFull = BeforeWaiting(loop: loop) { if !hasRoom(ours) { loop.stop() } }
        loop.run()
        withExtendedLifetime(untilFull) {}
        let oneMore = loop.startTimer(after: .milliseconds(20)) { loop.stop() }
        loop.run()
        // It reads a little, so that a part of the message fits before the comment that waits.
        var received: [UInt8] = []
        read(theirs, atMost: 4096, into: &received)
        let text = String(repeating: "~", count: 200_000)
        hub.append(.message(Message(.text, Array(text.utf8))), of: connection)
        let turns = BeforeWaiting(loop: loop) {
            hub.deliver()
            read(theirs, atMost: .max, into: &received)
            if received.count(where: { $0 == UInt8(ascii: "~") }) >= text.utf8.count { loop.stop() }
        }
        loop.run()
        withExtendedLifetime((oneMore, turns)) {}
        let runs = received.split { $0 != UInt8(ascii: "~") }.map(\.count)
        #expect(runs == [text.utf8.count])
        hub.dropAll()
        close(ours)
        close(theirs)
    }

    @Test func `one that was not there when others were told where they stand is told later`() throws {
        var settings = HTTPSettings()
        settings.keepAlive = .milliseconds(1)
        let hub = EventHub(loop: loop, settings: settings)
        let connection = try #require(hub.register("default", limits: HistoryLimits()))
        let (ours, theirs) = pair()
        let filter = StreamFilter(connections: ConnectionSelection(connection), types: .binary)
        // With a limit it waits, on its own, for what its filter lets pass.
        hub.subscribe(
            PairChannel(ours),
            Subscription(shape: StreamShape(filter: filter), limit: 1),
            from: .unix,
            opening: { _, _ in }
        )
        let untilFull = BeforeWaiting(loop: loop) { if !hasRoom(ours) { loop.stop() } }
        loop.run()
        withExtendedLifetime(untilFull) {}
        hub.append(.message(Message(.text, [])), of: connection)
        // The feed's position moves on meanwhile.
        let feed = try #require(hub.feeds.all.first)
        let untilMoved = BeforeWaiting(loop: loop) {
            hub.deliver()
            if feed.index.headSequence == hub.log.headSequence { loop.stop() }
        }
        loop.run()
        withExtendedLifetime(untilMoved) {}
        var received: [UInt8] = []
        let position = Array("id: \(hub.log.head.text)\n\n".utf8)
        let turns = BeforeWaiting(loop: loop) {
            hub.deliver()
            read(theirs, atMost: .max, into: &received)
            if received.suffix(200).contains(position) { loop.stop() }
        }
        loop.run()
        withExtendedLifetime(turns) {}
        hub.dropAll()
        close(ours)
        close(theirs)
    }

    @Test func `a client that stops reading is not cut off by the kernel, one that vanished is`() throws {
        let listener = try ListenSocket(.tcp(host: "127.0.0.1", port: 0))
        SocketWriter.prepare(listener.descriptor)
        func option(_ level: Int32, _ name: Int32) -> Int32 {
            var value: Int32 = -1
            var length = socklen_t(MemoryLayout<Int32>.size)
            unsafe getsockopt(listener.descriptor, level, name, &value, &length)
            return value
        }
        #expect(option(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == 0)
        #expect(option(SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(option(Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 30)
        listener.close()
    }

    @Test func `those who stall on a large record share its bytes, and get it whole`() throws {
        let service = try TestService()
        let text = String(repeating: "\n", count: 2 << 20)
        service.publish(text)
        let request = "GET /events?since=start&limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let before = residentBytes()
        let clients = try (1...40).map { _ in try service.client(request) }
        for client in clients { client.onChange = { client.pause() } }
        var turns: BeforeWaiting? = BeforeWaiting(loop: service.loop) {
            if service.hub.subscriberCount == clients.count { service.loop.stop() }
        }
        service.run()
        turns = nil
        // Seven bytes for each line end: 14 MiB, once for all of them and not forty times.
        #expect(residentBytes() - before < 200 << 20)
        let last = try #require(clients.last)
        last.onChange = { if last.hasEnded { service.loop.stop() } }
        last.resume()
        service.run()
        #expect(turns == nil && last.isComplete)
        #expect(last.received.count > 6 * text.utf8.count)
        service.stop()
    }

    private func residentBytes() -> Int {
        var buffer = [UInt8](repeating: 0, count: 256)
        let file = unsafe open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        let count = unsafe Glibc.read(file, &buffer, buffer.count)
        let fields = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
    }
}
