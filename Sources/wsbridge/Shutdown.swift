internal import BridgeCore
internal import BridgeIO

/// Ends the bridge in order, within a limit: upstreams first, so that subscribers see them close, then streams, then the
/// store.
final class Shutdown {
    private let bridge: Bridge
    private let onFinished: () -> Void
    private var openUpstreams = 0
    /// When upstreams are not waited for any longer.
    private var upstreamDeadline: LoopTimer?
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
        upstreamDeadline = bridge.loop.startTimer(after: times.upstreams) { [unowned self] in
            dropUpstreams(connections)
        }
        openUpstreams = connections.count
        for connection in connections {
            connection.upstream.stop { [unowned self] in
                openUpstreams -= 1
                if openUpstreams == 0 { bridge.hub.whenShown { [self] in endStreams() } }
            }
        }
    }

    /// Waits no longer for upstreams that do not answer the close, or do not take what is written to them: clients have
    /// to be told while there is time.
    private func dropUpstreams(_ connections: [BridgedConnection]) {
        bridge.log.warning(
            "upstreams that have not closed are dropped: the shutdown timeout is nearly over",
            ["connections": .integer(openUpstreams)]
        )
        for connection in connections { connection.upstream.end() }
    }

    private func endStreams() {
        upstreamDeadline = nil
        answerWaiting()
        bridge.hub.endAll()
        isEndingStreams = true
    }

    /// Tells those who wait for messages to be sent, or for replies, that nothing will be any more.
    private func answerWaiting() {
        for connection in bridge.allConnections {
            connection.sender.stop()
            connection.requester.stop(because: .bridgeStopping)
        }
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
        // Where the end of the streams was never reached, as nothing could be stored.
        answerWaiting()
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
