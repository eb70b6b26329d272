import BridgeCore
import BridgeIO
import Testing

/// What the kernel of this machine says; networks that change are tried end to end.
@MainActor @Suite struct NetworkWatcherTests {
    private func address(_ text: String) throws -> NetworkAddress {
        try #require(SocketAddress(literal: text, port: 1)?.networkAddress)
    }

    @Test func `loopback is this machine, and no link is needed to get there`() throws {
        let watcher = try NetworkWatcher(loop: Loop())
        #expect(watcher.route(to: try address("127.0.0.1"), from: nil) == .local)
        #expect(watcher.route(to: try address("127.0.0.1"), from: try address("127.0.0.1")) == .local)
    }

    @Test func `the address that loopback has is listed, with a link that carries`() throws {
        let watcher = try NetworkWatcher(loop: Loop())
        #expect(watcher.map.carries(try address("127.0.0.1")) == true)
        #expect(watcher.map.carries(try address("192.0.2.1")) == nil)
    }

    @Test func `many questions in a row get each its own answer`() throws {
        let watcher = try NetworkWatcher(loop: Loop())
        for _ in 0..<1000 {
            // The second one belongs to no network, so nobody can be there.
            #expect(watcher.route(to: try address("127.0.0.1"), from: nil) == .local)
            #expect(watcher.route(to: try address("240.0.0.1"), from: nil) != .local)
        }
    }

    @Test func `an address is the kernel's bytes, its link only where it is needed`() throws {
        #expect(try address("10.1.2.3").bytes == [10, 1, 2, 3])
        #expect(try address("::ffff:10.1.2.3").bytes == [10, 1, 2, 3])
        let linkLocal = try address("fe80::1%lo")
        #expect(linkLocal.isLinkLocal)
        #expect(linkLocal.link == 1)
        let zeros = [UInt8](repeating: 0, count: 11)
        #expect(try address("2001:db8::5").bytes == [0x20, 1, 0x0D, 0xB8] + zeros + [5])
    }
}
