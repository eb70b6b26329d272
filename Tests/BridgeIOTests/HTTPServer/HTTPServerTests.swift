import BridgeCore
import BridgeIO
import Glibc
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `HTTP server` {
    @Test(arguments: [
        ListenAddress.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0), .tcp(host: nil, port: 0),
        .unix(path: "/tmp/wsbridge-test-\(getpid()).sock"),
    ])
    func `streams can be written to directly, wherever the server listens`(address: ListenAddress) throws {
        var settings = HTTPSettings()
        settings.listen = address
        let service = try TestService(settings)
        let server = try #require(service.server)
        #expect(server.checkStreams())
        #expect(server.delivery == .direct)
        service.stop()
    }

    @Test func `a body arrives whole, however it is cut`() throws {
        let service = try TestService()
        let head = "POST /messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        let client = try service.client(head + "3\r\nabc\r\n4;ext=1\r\nde\r\n\r\n0\r\n\r\n")
        client.onChange = { service.loop.stop() }
        service.run()
        #expect(client.text.hasPrefix("HTTP/1.1 200 "))
        #expect(service.bodies == [Array("abcde\r\n".utf8)])
        service.stop()
    }

    @Test func `a request that takes too long is cut off, a byte now and then or not`() throws {
        var settings = HTTPSettings()
        settings.requestTimeout = .milliseconds(100)
        let service = try TestService(settings)
        let client = try service.client(
            "POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        )
        var drip: [LoopTimer] = []
        for number in 1...1000 {
            drip.append(service.loop.startTimer(after: .milliseconds(10 * number)) { client.send("x") })
        }
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.hasEnded)
        #expect(service.bodies.isEmpty)
        drip = []
        service.stop()
    }

    @Test func `a unix socket that nobody answers on is replaced, one that is answered on is not`() throws {
        let path = "/tmp/wsbridge-stale-\(getpid()).sock"
        let address = ListenAddress.unix(path: path)
        // As after a kill: the path stays behind.
        let stale = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(stale, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0)
        close(stale)
        var first: ListenSocket? = try ListenSocket(address)
        #expect(throws: ListenFailure(error: "Address already in use")) { _ = try ListenSocket(address) }
        #expect(first?.address == address)
        first = nil
        let isThere = unsafe access(path, F_OK) == 0
        #expect(!isThere)
    }
}
