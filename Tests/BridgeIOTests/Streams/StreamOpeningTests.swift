import BridgeCore
import BridgeIO
import Testing

/// What shows none of a few texts.
private let withoutReplay = [
    "", "since=now", "limit=1", "last=0", "format=json", "types=binary&since=start", "types=binary&last=2",
]

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `The beginning of a stream` {
    /// The lines that a stream begins with, less the value of `retry`, at a bridge that has had so many records.
    private func opening(_ query: String, after records: Int, _ way: StreamWay) throws -> (
        lines: [String], epoch: String
    ) {
        let service = try TestService(way: way)
        for number in 0..<records { service.publish("\(number)") }
        let target = "/events?idle=1ms&\(query)"
        let client = try service.client("GET \(target) HTTP/\(way.version)\r\nHost: localhost\r\n\r\n")
        client.onChange = { if client.hasEnded { service.loop.stop() } }
        service.run()
        let body = try #require(client.body)
        let lines = body.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("retry: ") ? "retry" : String(line)
        }
        defer { service.stop() }
        return (lines, service.hub.log.epoch.text)
    }

    @Test(arguments: StreamWay.allCases, withoutReplay)
    func `tells where it stands if nothing is replayed`(way: StreamWay, query: String) throws {
        let (lines, epoch) = try opening(query, after: 3, way)
        #expect(lines == ["retry", "", "id: \(epoch)-3", "", ""])
    }

    @Test(arguments: StreamWay.allCases, ["", "since=start", "last=5"])
    func `does so before the first record ever, too`(way: StreamWay, query: String) throws {
        let (lines, epoch) = try opening(query, after: 0, way)
        #expect(lines == ["retry", "", "id: \(epoch)-0", "", ""])
    }

    @Test(arguments: StreamWay.allCases) func `shows the snapshot before that`(way: StreamWay) throws {
        let (lines, epoch) = try opening("types=status", after: 1, way)
        #expect(lines.prefix(3) == ["retry", "", "event: status"])
        #expect(lines.suffix(3) == ["id: \(epoch)-1", "", ""])
    }

    @Test(arguments: StreamWay.allCases, ["since=start", "last=2"])
    func `leaves that to the first event if there is one`(way: StreamWay, query: String) throws {
        let (lines, epoch) = try opening(query, after: 2, way)
        #expect(lines.prefix(4) == ["retry", "", "id: \(epoch)-1", "data: 0"])
    }

    @Test(arguments: StreamWay.allCases) func `leaves that to a gap if there is one`(way: StreamWay) throws {
        let (lines, epoch) = try opening("since=00000000000a-7", after: 1, way)
        #expect(lines.prefix(4) == ["retry", "", "id: \(epoch)-0", "event: gap"])
    }
}
