import BridgeCore
import Glibc
import Testing

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `HTTP server` {
    @Test(
        arguments: [
            ListenAddress.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0),
            .tcp(host: nil, port: 0), .unix(path: "/tmp/wsbridge-test-\(getpid()).sock"),
        ],
        [StreamWay.detached, .suspended, .pulled]
    )
    func `streams can be written in every mode, wherever the server listens`(
        address: ListenAddress,
        way: StreamWay
    ) throws {
        var settings = HTTPSettings()
        settings.listen = address
        let service = try TestService(settings, way: way)
        let server = try #require(service.server)
        server.checkStreams()
        #expect(server.streamMode == way.mode)
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
        first?.close()
        first = nil
        let isThere = unsafe access(path, F_OK) == 0
        #expect(!isThere)
    }

    @Test func `what is at the path of a unix socket and is none stays`() throws {
        let path = "/tmp/wsbridge-file-\(getpid())"
        let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
        #expect(unsafe write(file, "precious", 8) == 8)
        close(file)
        let link = path + ".link"
        #expect(unsafe symlink(path, link) == 0)
        for name in [path, link] {
            #expect(throws: ListenFailure(error: "the path exists and is not a socket")) {
                _ = try ListenSocket(.unix(path: name))
            }
        }
        var status = stat()
        #expect(unsafe stat(link, &status) == 0)
        #expect(status.st_size == 8)
        unsafe unlink(link)
        unsafe unlink(path)
    }

    @Test func `a stop removes the unix socket and refuses new clients`() throws {
        let path = "/tmp/wsbridge-stop-\(getpid()).sock"
        var settings = HTTPSettings()
        settings.listen = .unix(path: path)
        let service = try TestService(settings)
        #expect(UnixPath(path)?.isSocket == true)
        service.server?.stopAccepting()
        #expect(UnixPath(path) == nil)
        service.stop()
    }

    @Test func `a stop closes the listening socket once`() throws {
        var service: TestService? = try TestService()
        service?.stop()
        // Whoever opens a descriptor now may get the number of the socket.
        let others = (0..<8).map { _ in unsafe open("/dev/null", O_RDONLY) }
        service = nil
        for other in others {
            #expect(fcntl(other, F_GETFD) >= 0)
            close(other)
        }
    }

    @Test func `after a failed check streams of HTTP/1.1 are pulled, and the server can be stopped`() throws {
        let service = try TestService()
        let server = try #require(service.server)
        server.checkStreams(within: .zero)
        #expect(server.streamMode == .pulled)
        let client = try service.client("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.onChange = {
            if client.data == ["pulled"] { return service.loop.stop() }
            if service.hub.log.headSequence == 0 { service.publish("pulled") }
        }
        service.run()
        #expect(client.text.lowercased().contains("transfer-encoding: chunked"))
        service.stop()
    }

    @Test func `a client that does not take its answers is cut off`() throws {
        var settings = HTTPSettings()
        settings.requestTimeout = .milliseconds(100)
        let service = try TestService(settings)
        service.answerBody = [UInt8](repeating: 65, count: 1 << 20)
        let request = "POST /connect HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let client = try service.client(String(repeating: request, count: 100))
        client.onChange = {
            client.pause()
            client.onChange = { if client.hasEnded { service.loop.stop() } }
        }
        let later = service.loop.startTimer(after: .seconds(1)) { client.resume() }
        service.run()
        #expect(client.received.count < 100 << 20)
        withExtendedLifetime(later) {}
        service.stop()
    }
}
