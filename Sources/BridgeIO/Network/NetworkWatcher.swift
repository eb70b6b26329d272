package import BridgeCore
internal import Glibc

/// Watches the kernel's links, addresses and routes, and answers questions about them.
///
/// News only say that something is different; what, is read again once they have settled for a moment. So news that
/// were missed, and routes that vanish with their link and without a word, need no care.
package final class NetworkWatcher: @MainActor NetworkView {
    package private(set) var map = NetworkMap()
    /// Something is different; the argument: the machine has come by an address.
    package var onChange: (_ gained: Bool) -> Void = { _ in }

    private let loop: Loop
    private let news: NetlinkSocket
    private let questions: NetlinkSocket
    private var poll: FilePoll?
    private var settling: LoopTimer?
    private var lastSequence: UInt32 = 0

    /// What changes together is told in a row; and a network in turmoil costs this much of our attention at most.
    private static let settlingTime = Duration.milliseconds(50)
    /// Until the next try where the kernel did not list everything.
    private static let retryTime = Duration.seconds(1)
    private static let mostDatagramsPerTurn = 64
    private static let mostDatagramsPerList = 10_000

    /// - Throws: why the kernel cannot be asked, as in a sandbox.
    package init(loop: Loop) throws(NetworkFailure) {
        self.loop = loop
        news = try NetlinkSocket(hearsNews: true)
        questions = try NetlinkSocket(hearsNews: false)
        guard let map = read() else { throw NetworkFailure("the kernel lists neither links nor addresses") }
        self.map = map
        guard let loopback = NetworkAddress([127, 0, 0, 1]), route(to: loopback, from: nil) == .local else {
            throw NetworkFailure("the kernel does not tell the way to an address")
        }
        let poll = FilePoll(loop: loop, descriptor: news.descriptor) { [weak self] _ in self?.newsCame() }
        self.poll = poll
        poll.watch(for: .reading)
    }

    isolated deinit {
        // Before its descriptor is closed.
        poll = nil
    }

    // MARK: News

    private func newsCame() {
        settle(for: NetworkWatcher.settlingTime)
        for _ in 0..<NetworkWatcher.mostDatagramsPerTurn {
            guard case .datagram = news.receive() else { break }
        }
        // After an overrun, which shows as an error once, libuv has stopped to watch.
        poll?.watch(for: .reading)
    }

    private func settle(for duration: Duration) {
        guard settling == nil else { return }
        settling = loop.startTimer(after: duration) { [weak self] in self?.settled() }
    }

    private func settled() {
        settling = nil
        guard let now = read() else { return settle(for: NetworkWatcher.retryTime) }
        let gained = now.gains(over: map)
        map = now
        onChange(gained)
    }

    // MARK: Questions

    package func route(to destination: NetworkAddress, from source: NetworkAddress?) -> RouteAnswer {
        var answer = RouteAnswer.unknown
        _ = ask(.route(to: destination, from: source)) { message in
            switch message {
            case .route(let route): answer = route
            case .refused(let code): answer = RouteAnswer(refusedWith: code)
            case .link, .address, .done, .other: return false
            }
            return true
        }
        return answer
    }

    /// All links and addresses.
    ///
    /// A change meanwhile may leave it inconsistent; but then it makes news, and everything is read again.
    private func read() -> NetworkMap? {
        var map = NetworkMap()
        for request in [NetlinkRequest.links, .addresses] {
            var isRefused = false
            let isWhole = ask(request) { message in
                map.add(message)
                if case .refused = message { isRefused = true }
                return message == .done || isRefused
            }
            guard isWhole, !isRefused else { return nil }
        }
        return map
    }

    /// Sends a request and reads its answers until one `isLast`; returns whether that came.
    ///
    /// The kernel answers before `send` returns, so nothing is waited for.
    private func ask(_ request: NetlinkRequest, isLast: (NetlinkMessage) -> Bool) -> Bool {
        lastSequence &+= 1
        guard questions.send(request.bytes(sequence: lastSequence)) else { return false }
        for _ in 0..<NetworkWatcher.mostDatagramsPerList {
            guard case .datagram(let bytes) = questions.receive() else { return false }
            var reader = NetlinkReader(bytes)
            while let (sequence, message) = reader.next() {
                // What an earlier question was still owed is passed over.
                if sequence == lastSequence, isLast(message) { return true }
            }
        }
        return false
    }
}

extension RouteAnswer {
    /// What it means that the kernel refuses to name a way.
    fileprivate init(refusedWith code: Int32) {
        self =
            switch code {
            // None at all; unreachable, prohibit and blackhole; no such family.
            case ENETUNREACH, ENETDOWN, ESRCH, EHOSTUNREACH, EACCES, EINVAL, EAFNOSUPPORT, EOPNOTSUPP: .none
            default: .unknown
            }
    }
}
