import BridgeCore
import BridgeIO
import Testing

/// Makes pieces of the numbers from 0 on, each with its line.
@MainActor private final class Lines: BodySource {
    private let count: Int
    private let perPiece: Int
    private(set) var made = 0
    var onEnd: () -> Void = {}

    init(_ count: Int, perPiece: Int) {
        self.count = count
        self.perPiece = perPiece
    }

    isolated deinit { onEnd() }

    func next() -> [UInt8]? {
        guard made < count else { return nil }
        let piece = made..<min(count, made + perPiece)
        made = piece.upperBound
        return Array(piece.map { "\($0)\n" }.joined().utf8)
    }

    var text: String { (0..<count).map { "\($0)\n" }.joined() }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct `A body that is made piece by piece` {
    private func request(_ method: String = "GET", version: String = "1.1") -> String {
        "\(method) /status HTTP/\(version)\r\nHost: localhost\r\n\r\n"
    }

    @Test(arguments: [0, 1, 7, 100_000], [1, 1000])
    func `arrives whole, whatever its pieces are`(count: Int, perPiece: Int) throws {
        let service = try TestService()
        let lines = Lines(count, perPiece: perPiece)
        service.source = lines
        let client = try service.client(request())
        client.onChange = { if client.isComplete { service.loop.stop() } }
        service.run()
        #expect(client.text.hasPrefix("HTTP/1.1 200 "))
        #expect(client.body == lines.text)
        // The connection can be used again.
        service.source = Lines(3, perPiece: 1)
        client.onChange = { if client.text.hasSuffix("2\n\r\n0\r\n\r\n") { service.loop.stop() } }
        client.send(request())
        service.run()
        service.stop()
    }

    @Test func `ends with the connection where there are no chunks`() throws {
        let service = try TestService()
        let lines = Lines(50_000, perPiece: 100)
        service.source = lines
        let client = try service.client(request(version: "1.0"))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.body == lines.text)
        service.stop()
    }

    @Test func `is not made for those who want the head alone`() throws {
        let service = try TestService()
        let lines = Lines(1000, perPiece: 1)
        service.source = lines
        let client = try service.client(request("HEAD"))
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        #expect(client.text.hasPrefix("HTTP/1.1 200 "))
        #expect(client.text.hasSuffix("\r\n\r\n"))
        #expect(lines.made == 0)
        service.stop()
    }

    @Test func `is made as fast as it is taken, and given up with its client`() throws {
        let service = try TestService()
        var isGone = false
        var made = 0
        do {
            let lines = Lines(10_000_000, perPiece: 1000)
            lines.onEnd = {
                isGone = true
                service.loop.stop()
            }
            service.source = lines
        }
        let client = try service.client(request())
        client.onChange = {
            client.onChange = {}
            client.pause()
            service.loop.stop()
        }
        service.run()
        // Others are answered meanwhile, and nothing more is made once the kernel is full.
        var last = -1
        while made != last {
            last = made
            let other = try service.client("GET /v1/connections HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let source = service.source
            service.source = nil
            other.onChange = { service.loop.stop() }
            service.run()
            #expect(other.text.hasPrefix("HTTP/1.1 200 "))
            made = (source as? Lines)?.made ?? 0
            service.source = source
        }
        #expect(made > 0 && made < 10_000_000)
        service.source = nil
        client.leave()
        if !isGone { service.run() }
        #expect(isGone)
        service.stop()
    }
}
