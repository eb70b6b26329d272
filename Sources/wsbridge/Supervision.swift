internal import BridgeCore
internal import BridgeIO

/// Keeps whoever watches over the process informed, if there is anybody.
final class Supervision {
    private let loop: Loop
    private let bridge: Bridge
    private let socket: NotifySocket?
    private let interval: Duration?
    private var heartbeat: LoopTimer?
    private var news: NextTurn?
    private var told: ServiceStanding?

    init(_ environment: SupervisorEnvironment, of bridge: Bridge) {
        loop = bridge.loop
        self.bridge = bridge
        socket = environment.notifyPath.flatMap { NotifySocket($0) }
        interval = environment.watchdogInterval
    }

    /// The bridge listens.
    func begin() {
        guard socket != nil else { return }
        tellReady()
        // Many connections may change in one turn.
        let news = NextTurn(loop: loop) { [unowned self] in tellStanding() }
        self.news = news
        bridge.onStandingChange = { news.schedule() }
        if let interval { beat(every: interval) }
    }

    func tellReloading() { socket?.tell(.reloading(loop.now)) }

    /// Told after a reload, too, whatever came of that.
    func tellReady() {
        let standing = bridge.standing
        told = standing
        socket?.tell(.ready(standing))
    }

    func tellStopping() {
        bridge.onStandingChange = {}
        socket?.tell(.stopping)
    }

    private func tellStanding() {
        let standing = bridge.standing
        guard standing != told else { return }
        told = standing
        socket?.tell(.standing(standing))
    }

    /// From the loop, so that a loop that stands still is noticed.
    private func beat(every interval: Duration) {
        socket?.tell(.alive)
        heartbeat = loop.startTimer(after: interval) { [unowned self] in beat(every: interval) }
    }
}

extension Bridge {
    /// How many of the connections that are to be up are ready.
    var standing: ServiceStanding {
        let wanted = connections.values.compactMap(\.isUp)
        return ServiceStanding(ready: wanted.count { $0 }, wanted: wanted.count)
    }
}
