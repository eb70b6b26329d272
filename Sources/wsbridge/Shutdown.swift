internal import BridgeCore
internal import BridgeIO

/// Ends the bridge in order, within a limit: upstreams first, so that subscribers see them close, then streams, then the
/// store.
final class Shutdown {
    private let bridge: Bridge
    private let onFinished: () -> Void
    private var openUpstreams = 0
    private var deadline: LoopTimer?
    private var isEndingStreams = false
    private var isFinished = false
    private let times: ShutdownTimes
    private let beginning: Instant

    init(_ bridge: Bridge, onFinished: @escaping () -> Void) {
        self.bridge = bridge
        self.onFinished = onFinished
        let limit = bridge.configuration.http.shutdownTimeout
        times = ShutdownTimes(limit: limit, hasStore: bridge.store != nil)
        beginning = bridge.loop.now
    }

    func begin() {
        bridge.server?.stopAccepting()
        deadline = bridge.loop.startTimer(after: times.streams) { [unowned self] in
            bridge.log.warning("stopped before everything was written: the shutdown timeout is over")
            finish()
        }
        let connections = bridge.allConnections
        guard !connections.isEmpty else { return endStreams() }
        openUpstreams = connections.count
        for connection in connections {
            connection.upstream.stop { [unowned self] in
                openUpstreams -= 1
                if openUpstreams == 0 { bridge.hub.whenShown { [self] in endStreams() } }
            }
        }
    }

    private func endStreams() {
        for connection in bridge.allConnections {
            connection.sender.stop()
            connection.requester.stop(because: .bridgeStopping)
        }
        bridge.hub.endAll()
        isEndingStreams = true
    }

    /// Looks whether everything is over, at the end of each turn of the loop.
    ///
    /// Nearly always it is at once; a client that is slow to read may still take its last bytes.
    func turnEnded() {
        let answersOwed = bridge.server?.heldAnswerCount ?? 0
        guard isEndingStreams, bridge.hub.subscriberCount == 0, answersOwed == 0,
            bridge.server?.isOwing != true
        else { return }
        finish()
    }

    private func finish() {
        isEndingStreams = false
        deadline = nil
        bridge.hub.dropAll()
        bridge.endTurn()
        bridge.hub.noteUnstored()
        guard let store = bridge.store else { return onFinished() }
        let rest = beginning + times.store - bridge.loop.now
        deadline = bridge.loop.startTimer(after: max(.zero, rest)) { [unowned self] in
            bridge.log.warning("stopped before the store was closed: the shutdown timeout is over")
            finishOnce()
        }
        store.close { [unowned self] in finishOnce() }
    }

    private func finishOnce() {
        guard !isFinished else { return }
        isFinished = true
        deadline = nil
        onFinished()
    }
}
