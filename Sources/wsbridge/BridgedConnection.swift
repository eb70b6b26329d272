internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// A managed connection with its place in the event log.
final class BridgedConnection {
    let index: ConnectionIndex
    let upstream: ManagedConnection
    let sender: Sender
    let requester: Requester
    private(set) var requestSettings: RequestSettings
    /// What it has in the store; nil: there is none.
    let store: ConnectionStore?
    /// It counts for whether the bridge is ready.
    private(set) var isToBeUp: Bool
    /// It is there only for those who need it.
    private(set) var isOnDemand: Bool
    /// It is not found any more, and about to close.
    var isRemoved = false
    private let hub: EventHub
    private let journal: ConnectionJournal
    private let log: Log

    init(
        name: String,
        index: ConnectionIndex,
        configuration: ConnectionConfiguration,
        proxies: EnvironmentProxies,
        hub: EventHub,
        log: Log,
        flushes: FlushRound,
        transfers: Transfers,
        store: BridgeStore?,
        stored: StoredConnection?,
        outbox: OutboxID
    ) {
        self.store = stored.flatMap { stored in store.map { ConnectionStore(stored.id, in: $0) } }
        self.index = index
        self.hub = hub
        self.log = log
        let loop = hub.loop
        journal = ConnectionJournal(name: name, index: index, hub: hub, log: log)
        upstream = ManagedConnection(
            name: name,
            route: UpstreamRoute(configuration, proxies),
            settings: configuration.settings,
            surroundings: ManagedConnection.Surroundings(
                loop: loop,
                flushes: flushes,
                transfers: transfers,
                sink: journal,
                memory: hub,
                store: self.store,
                outbox: outbox,
                wallClock: { loop.wallTime }
            ),
            stored: stored
        )
        journal.url = { [unowned upstream] in upstream.dialledURL }
        let now = ClockReading(instant: loop.now, time: loop.wallTime)
        sender = Sender(
            upstream,
            loop: loop,
            store: self.store,
            keys: stored.map { IdempotencyLedger(restoring: $0, epoch: outbox.epoch, now: now) }
                ?? IdempotencyLedger()
        )
        requester = Requester(upstream, hub: hub)
        requestSettings = configuration.settings.request
        isToBeUp = configuration.settings.connect == .always
        isOnDemand = configuration.settings.connect == .onDemand
        warn(of: configuration)
    }

    private func warn(of configuration: ConnectionConfiguration) {
        guard configuration.source.maySecure, !configuration.upstream.tls.verifies else { return }
        log.warning(
            "the upstream's certificate is not verified: whoever is on the way can read and change everything",
            ["connection": .text(upstream.name)]
        )
    }

    /// Called when something has happened to it.
    var onStandingChange: () -> Void {
        get { journal.onHappening }
        set { journal.onHappening = newValue }
    }

    /// Whether it counts as ready; nil: it is not to be up all the time.
    var isUp: Bool? { isToBeUp ? upstream.isReady : nil }

    /// Tells the connection whether someone reads it.
    func noteAudience() { upstream.isFollowed = hub.hasAudience(index) }

    /// Ends the connection and begins anew with other settings, in the same place.
    func replace(_ configuration: ConnectionConfiguration, proxies: EnvironmentProxies) {
        requestSettings = configuration.settings.request
        isToBeUp = configuration.settings.connect == .always
        isOnDemand = configuration.settings.connect == .onDemand
        warn(of: configuration)
        upstream.replace(route: UpstreamRoute(configuration, proxies), settings: configuration.settings)
    }

    /// Writes the members of the status object (`GET .../status`).
    func writeStatus(to json: inout JSONWriter) {
        upstream.status.writeMembers(
            to: &json,
            subscribers: hub.subscriberCount(of: index),
            gaps: hub.gaps(of: index),
            history: { json in hub.historyStatus(of: index).writeMembers(to: &json) }
        )
        if let store {
            json.member("storage") { store.store.writeStatus(to: &$0) }
        } else {
            json.member("storage", null: ())
        }
    }
}

extension UpstreamRoute {
    /// What the configuration of a connection says about dialling it.
    init(_ configuration: ConnectionConfiguration, _ proxies: EnvironmentProxies) {
        let upstream = configuration.upstream
        let proxy = ProxyRule(upstream.proxy, environment: proxies)
        let secrets = upstream.headers.map(\.value)
        self.init(source: configuration.source, proxy: proxy, tls: upstream.tls, secrets: secrets) { url in
            var terms = ClientHandshake.Terms(url: url)
            terms.fields = upstream.headers
            terms.subprotocols = upstream.subprotocols
            terms.requiresSubprotocol = upstream.requireSubprotocol
            terms.compression = upstream.compression ? DeflateOffer() : nil
            return UpstreamTarget(
                terms: terms,
                maximumMessageBytes: upstream.maxMessageBytes,
                tls: upstream.tls,
                proxy: proxy
            )
        }
    }
}
