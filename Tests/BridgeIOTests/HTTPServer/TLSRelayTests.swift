import BridgeCore
import Glibc
import Testing
import WebSocketTestSupport

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `A relay of TLS` {
    private let loop = Loop()

    /// Runs the loop until this is so, or far too long.
    private func run(_ isSo: @escaping () -> Bool, _ step: @escaping () -> Void) {
        var ticks: LoopTimer?
        func tick() {
            step()
            if isSo() { loop.stop() } else { ticks = loop.startTimer(after: .milliseconds(1)) { tick() } }
        }
        tick()
        let end = loop.startTimer(after: .seconds(60)) { loop.stop() }
        loop.run()
        withExtendedLifetime((ticks, end)) {}
        #expect(isSo())
    }

    private func connected(patienceForRest: Duration = .seconds(30)) throws -> RelayedClient {
        let client = try RelayedClient(loop: loop, patienceForRest: patienceForRest)
        run({ client.isEstablished }, { client.read(atMost: 65_536) })
        return client
    }

    @Test(arguments: 1...4) func `loses nothing between ends that pause as they like`(seed: UInt64) throws {
        let fast = try connected()
        let slow = try connected()
        var generator = SeededGenerator(seed: seed)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        let sent = (fast: 6_000_000, slow: 1_500_000)
        let posted = 1_000_000
        run {
            fast.received == sent.fast && slow.received == sent.slow && fast.taken == posted
                && slow.taken == posted
        } _: {
            for (client, total) in [(fast, sent.fast), (slow, sent.slow)] {
                if random(20) > 0 { client.answer(random(200_000), of: total) }
                if random(3) == 0 { client.post(random(40_000), of: posted) }
                if random(4) == 0 { client.take(atMost: random(100_000)) }
            }
            fast.read(atMost: 65_536)
            // Less than a record at a time, seldom, and once in a while everything.
            if random(4) == 0 {
                slow.read(atMost: random(30) == 0 ? 1_000_000 : random(30_000))
            }
        }
        #expect(fast.isIntact && slow.isIntact)
        fast.close()
        slow.close()
    }

    /// A socket that is closed with something unread is an error to its peer, which comes before what was written.
    @Test(arguments: [10, 100_000, 160_000]) func `passes on what was written before a reset`(
        count: Int
    ) throws {
        let client = try connected()
        client.post(10, of: 10)
        run({ client.hasInput }, {})
        client.answer(count, of: count)
        client.hangUp()
        run({ client.hasEnded }, { client.read(atMost: 65_536) })
        #expect(client.received == count)
        #expect(client.isIntact)
        client.close()
        run({ client.relay?.isGone == true }, {})
    }

    @Test func `lets go of a client whose answerer is gone while it sends`() throws {
        let client = try connected()
        // Until neither the relay nor any kernel takes more.
        var idle = 0
        run(
            { idle > 50 },
            {
                let before = client.posted
                client.post(50_000, of: .max)
                idle = client.posted == before || client.isBlocked ? idle + 1 : 0
            }
        )
        client.answer(100, of: 100)
        client.hangUp()
        run({ client.hasEnded }, { client.read(atMost: 65_536) })
        #expect(client.received == 100)
        client.close()
        run({ client.relay?.isGone == true }, {})
    }

    /// More than both kernels hold, so that the relay has something that nobody takes.
    private func stall(_ client: RelayedClient) {
        var idle = 0
        run(
            { idle > 50 },
            {
                let before = client.answered
                client.answer(50_000, of: .max)
                idle = client.answered == before ? idle + 1 : 0
            }
        )
    }

    @Test func `loses nothing to a client that took nothing when its answerer ended`() throws {
        let client = try connected()
        stall(client)
        #expect(client.relay?.isEnding == false)
        client.hangUp()
        run({ client.relay?.isEnding == true }, {})
        run({ client.hasEnded }, { client.read(atMost: 65_536) })
        #expect(client.received == client.answered)
        #expect(client.isIntact)
        client.close()
        run({ client.relay?.isGone == true }, {})
    }

    @Test func `lets go of a client that never takes what its answerer has left`() throws {
        let client = try connected(patienceForRest: .milliseconds(100))
        stall(client)
        client.hangUp()
        run({ client.relay?.isGone == true }, {})
        client.close()
    }
}

/// A client that speaks TLS, and whoever answers it, with a relay in between.
@MainActor private final class RelayedClient {
    private let session: TLSSession
    private(set) var relay: TLSRelay?
    private let client: Int32
    private let answerer: Int32
    private var unsent: ArraySlice<UInt8> = []
    private var hasHungUp = false
    private(set) var isEstablished = false
    private(set) var hasEnded = false
    /// All that came was what was sent.
    private(set) var isIntact = true
    /// Bytes of each direction, at each end.
    private(set) var answered = 0
    private(set) var received = 0
    private(set) var posted = 0
    private(set) var taken = 0

    init(loop: Loop, patienceForRest: Duration) throws {
        let certificates = try TestCertificates.shared.get()
        var settings = ServerTLSSettings()
        settings.certificateFile = certificates.path("good.pem")
        settings.keyFile = certificates.path("good.key")
        var trust = TLSSettings()
        trust.authorityFile = certificates.authority
        session = try TLSSession(context: TLSContext(trust), host: "localhost")
        let outer = try #require(TLSAcceptor.pair())
        let inner = try #require(TLSAcceptor.pair())
        client = outer.theirs
        answerer = inner.theirs
        relay = TLSRelay(
            loop: loop,
            session: try ServerCertificate(settings).session(),
            outer: outer.ours,
            inner: inner.ours,
            patienceForRest: patienceForRest
        ) { _ in }
        isEstablished = try session.handshake()
        flush()
    }

    /// What stands at each place of a direction, so that what is lost or doubled is seen.
    private static let period = {
        var generator = SeededGenerator(seed: 1)
        return generator.bytes(1 << 19)
    }()
    private static let pattern = period + period

    private static func bytes(at position: Int, _ count: Int) -> ArraySlice<UInt8> {
        let start = position % period.count
        return pattern[start..<start + min(count, period.count)]
    }

    private func check(_ bytes: [UInt8], at position: Int) {
        if bytes[...] != RelayedClient.bytes(at: position, bytes.count) { isIntact = false }
    }

    // MARK: The client

    /// The kernel does not take what it has encrypted.
    var isBlocked: Bool { !unsent.isEmpty }

    func post(_ count: Int, of total: Int) {
        flush()
        guard unsent.isEmpty else { return }
        let bytes = Array(RelayedClient.bytes(at: posted, min(count, total - posted)))
        guard !bytes.isEmpty, (try? session.write(bytes)) != nil else { return }
        posted += bytes.count
        flush()
    }

    func read(atMost count: Int) {
        flush()
        var buffer = [UInt8](repeating: 0, count: max(1, count))
        let got = unsafe recv(client, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard got > 0 else {
            if got == 0 || errno != EAGAIN { hasEnded = true }
            return
        }
        let encrypted = Array(buffer[..<got])
        session.receive(encrypted.span)
        if !isEstablished { isEstablished = (try? session.handshake()) ?? false }
        if isEstablished {
            _ = session.read { bytes in
                let piece = (0..<bytes.count).map { bytes[$0] }
                check(piece, at: received)
                received += piece.count
                return true
            }
        }
        flush()
    }

    private func flush() {
        unsent += session.takeOutput()
        guard !unsent.isEmpty else { return }
        let outcome = unsafe unsent.withUnsafeBytes { unsafe SocketWriter.send(client, $0) }
        if case .written(let count) = outcome { unsent = unsent.dropFirst(count) }
    }

    func close() {
        if !hasHungUp { hangUp() }
        Glibc.close(client)
    }

    // MARK: Whoever answers

    /// Something of the client's is there.
    var hasInput: Bool {
        var request = pollfd(fd: answerer, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    func answer(_ count: Int, of total: Int) {
        let bytes = RelayedClient.bytes(at: answered, min(count, total - answered))
        guard !bytes.isEmpty else { return }
        let outcome = unsafe bytes.withUnsafeBytes { unsafe SocketWriter.send(answerer, $0) }
        if case .written(let count) = outcome { answered += count }
    }

    func take(atMost count: Int) {
        var buffer = [UInt8](repeating: 0, count: max(1, count))
        let got = unsafe recv(answerer, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard got > 0 else { return }
        check(Array(buffer[..<got]), at: taken)
        taken += got
    }

    /// Closes, whatever is unread.
    func hangUp() {
        hasHungUp = true
        Glibc.close(answerer)
    }
}
