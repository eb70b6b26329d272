internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// The whole bridge: connections on one side, HTTP on the other, the event hub between them.
///
/// Only here do the parts know one another.
final class Bridge {
    private(set) var configuration: BridgeConfiguration
    let loop: Loop
    let log: Log
    let hub: EventHub
    /// Nil: everything is in memory.
    let store: BridgeStore?
    private(set) var gate: RequestGate {
        didSet { rules += 1 }
    }
    let files: PublicFiles
    /// Of browsers.
    var sessions = SessionTable()
    /// When the next session is over.
    var sessionTimer: LoopTimer?
    /// Streams may be open that their readers may not read any more.
    var hasStaleRights = false
    /// By name.
    private(set) var connections: [String: BridgedConnection] = [:] {
        didSet {
            lists = ConnectionLists()
            rules += 1
        }
    }
    /// Of the gate and the names: see `HTTPHandler`.
    private(set) var rules = 0
    /// Lists of the connections, as long as they are right.
    var lists = ConnectionLists()
    /// Those that were removed and still have to close, by name.
    private var leaving: [String: BridgedConnection] = [:]
    /// How many outboxes there were; only counted where nothing is stored.
    var outboxes: UInt64 = 0
    /// With those that still have to close.
    var allConnections: [BridgedConnection] { Array(connections.values) + Array(leaving.values) }
    /// Those of `configuration` that the file does not have, or has otherwise.
    private var clientConnections = ClientConnections()
    /// Nil where no connection wants the network watched; a failure where the system does not allow it.
    var networkWatch: Result<NetworkWatcher, NetworkFailure>?
    private(set) var server: HTTPServer?
    /// Nil: clients speak plain HTTP.
    var certificate: ServerCertificate?
    /// Called when something has happened to a connection, or connections have come or gone.
    var onStandingChange: () -> Void = {}
    var shutdown: Shutdown?

    private let flushes: FlushRound
    private let transfers: Transfers
    private var turnEnd: BeforeWaiting?
    private var nextTurn: LoopTimer?

    init(
        _ configuration: BridgeConfiguration,
        files: PublicFiles,
        loop: Loop,
        log: Log,
        store: BridgeStore? = nil
    ) {
        self.configuration = configuration
        self.store = store
        self.files = files
        self.loop = loop
        self.log = log
        hub = EventHub(loop: loop, settings: configuration.http)
        gate = RequestGate(configuration.http, ownNames: Machine.names, files: files)
        store?.keepHistory(of: hub)
        flushes = FlushRound(loop: loop)
        transfers = Transfers(loop: loop)
        store?.onCongestion = { [unowned self] in holdBack() }
        hub.onAudienceChange = { [unowned self] connections in
            for connection in onDemandConnections where connections.contains(connection.index) {
                connection.noteAudience()
            }
        }
    }

    /// Listens, dials, and from then on serves while the loop runs.
    ///
    /// It listens on the socket that was `passed`, if one was.
    ///
    /// - Throws: `ListenFailure` if the address cannot be had.
    func start(on passed: ListenSocket? = nil) throws(ListenFailure) {
        let http = configuration.http
        let socket =
            if let passed { passed } else { try ListenSocket(http.listen, mode: http.socketMode) }
        try loadCertificate()
        boundMemory()
        watchNetwork()
        // Before anyone is answered: a page that is told 404 does not come back.
        for (name, connection) in configuration.connections.sorted(by: { $0.key < $1.key }) {
            add(name, connection)
        }
        warnOfUnclaimed()
        let server = try HTTPServer(
            loop: loop,
            socket: socket,
            settings: configuration.http,
            handler: self,
            upstreams: connections.count,
            streamMode: configuration.streamMode,
            certificate: certificate
        )
        self.server = server
        boundBodies()
        server.onRefusals = { [log, limit = server.connectionLimit] count in
            log.warning(
                "there is no room for more clients",
                ["refused": .integer(count), "limit": .integer(limit)]
            )
        }
        // Who waited for the disk is answered at once: what goes upstream takes longer to be written.
        store?.onNews.append { [unowned self] _ in _ = self.server?.runIfNeeded() }
        server.checkStreams()
        warn(of: server.streamMode)
        if server.connectionLimit < server.wantedConnections {
            log.warning(
                "the system lets the process have few descriptors (ulimit -n)",
                [
                    "connections": .integer(server.connectionLimit),
                    "wanted": .integer(server.wantedConnections),
                ]
            )
        }
        let ignored = configuration.proxies.direct.malformed
        if !ignored.isEmpty {
            log.warning(
                "entries are neither names nor addresses and have no effect",
                [
                    "variable": .text(configuration.proxies.directVariable),
                    "entries": .text(ignored.prefix(8).joined(separator: ", ")),
                ]
            )
        }
        turnEnd = BeforeWaiting(loop: loop) { [unowned self] in endTurn() }
        tellAddress(of: server)
        for connection in connections.values { connection.upstream.start() }
    }

    private func add(_ name: String, _ settings: ConnectionConfiguration) {
        // There is one connection of a name at a time, and what comes anew has nothing of what was removed.
        leaving[name]?.upstream.end()
        hub.release(name)
        let stored = store?.connections.claim(name)
        guard let index = hub.register(name, limits: configuration.history, as: stored) else { return }
        let connection = BridgedConnection(
            name: name,
            index: index,
            configuration: settings,
            proxies: configuration.proxies,
            hub: hub,
            log: log,
            flushes: flushes,
            transfers: transfers,
            store: store,
            stored: stored,
            outbox: outboxName(of: stored)
        )
        connection.onStandingChange = { [unowned self] in onStandingChange() }
        connection.upstream.network = network
        connection.upstream.isHeldBack = store?.isCongested ?? false
        connections[name] = connection
    }

    /// What was decided about requests does not hold any more.
    func forgetAdmissions() { rules += 1 }

    // MARK: Another configuration

    /// Takes on another configuration of the file as far as a running bridge can; connections that stay the same are
    /// not touched.
    func reload(_ file: BridgeConfiguration) -> ConfigurationChange {
        var change = ConfigurationChange(
            from: configuration,
            to: clientConnections.complete(file),
            roomFor: server?.subscriberRoom ?? file.http.maxSubscribers
        )
        configuration = change.result
        gate = RequestGate(configuration.http, ownNames: Machine.names, files: files)
        takeBackRights()
        hub.settings = configuration.http
        boundMemory()
        server?.deadlines.timeout = configuration.http.requestTimeout
        updateCertificate(&change)
        change.renewed = connections.filter { name, connection in
            !change.removed.contains(name) && !change.replaced.contains(name)
                && connection.upstream.hasOutdatedFiles
        }
        .keys.sorted()
        for name in connections.keys { _ = hub.register(name, limits: configuration.history) }
        take(added: change.added, replaced: change.replaced, removed: change.removed)
        return change
    }

    /// Has a connection be what a client says; returns whether it is new, or nil if it is that already.
    func put(_ name: String, _ settings: ConnectionConfiguration) throws(Problem) -> Bool? {
        let old = configuration.connections[name]
        clientConnections.put(name, settings)
        guard old != settings else { return nil }
        guard old != nil || connections.count + leaving.count < BridgeConfiguration.mostConnections else {
            clientConnections.remove(name)
            throw .tooManyUpstreams(limit: BridgeConfiguration.mostConnections)
        }
        configuration.connections[name] = settings
        if old == nil { take(added: [name]) } else { take(replaced: [name]) }
        return old == nil
    }

    /// Has a connection go, by the wish of a client.
    func drop(_ name: String) {
        clientConnections.remove(name)
        configuration.connections[name] = nil
        take(removed: [name])
    }

    /// Brings the connections in line with the configuration, which has changed by these.
    private func take(added: [String] = [], replaced: [String] = [], removed: [String] = []) {
        watchNetwork()
        for name in replaced {
            guard let connection = connections[name], let settings = configuration.connections[name] else {
                continue
            }
            connection.replace(settings, proxies: configuration.proxies)
            // Which ones are there on demand is looked up anew.
            connections[name] = connection
            // It may have had readers already when nothing depended on them.
            connection.noteAudience()
        }
        for name in added {
            guard let settings = configuration.connections[name] else { continue }
            add(name, settings)
            connections[name]?.upstream.start()
            // Merged streams that are open read it from now on.
            connections[name]?.noteAudience()
        }
        // Last, so that a merged stream whose connections are all replaced by others goes on.
        for name in removed { remove(name) }
        onStandingChange()
    }

    /// Lets a connection go: it is not found any more, its upstream is closed, then its streams end.
    private func remove(_ name: String) {
        guard let connection = connections.removeValue(forKey: name) else { return }
        leaving[name] = connection
        connection.isRemoved = true
        connection.store?.remove()
        connection.upstream.stop { [unowned self] in
            leaving[name] = nil
            connection.sender.discard(because: .notFound("the connection was removed"))
            connection.requester.stop(because: .notFound("the connection was removed"))
            hub.whenShown { [hub] in hub.remove(connection.index) }
        }
    }

    // MARK: The end of a turn

    /// Sends out what came in and what it brought about, until nothing is left to do but wait.
    func endTurn() {
        guard let server else { return }
        for _ in 0..<Bridge.roundsPerTurn {
            endStaleStreams()
            hub.deliver()
            flushes.flush()
            store?.endRound()
            guard server.runIfNeeded() || hub.hasNews else { break }
        }
        hub.storeStaged()
        store?.endRound()
        server.prepareToWait()
        // What the last round brought about goes out after the upstreams have had their turn.
        nextTurn = hub.hasNews || server.needsRun || hasStaleRights ? loop.startTimer(after: .zero) {} : nil
        shutdown?.turnEnded()
        loop.turnEnds()
    }

    /// How often HTTP and streams may bring about work for each other before the upstreams get their turn.
    private static let roundsPerTurn = 16
}
