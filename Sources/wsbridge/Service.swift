internal import BridgeCore
internal import BridgeIO
internal import Glibc
internal import Storage

/// The process while it serves: a loop, a bridge, and the signals that end it.
final class Service {
    private let loop: Loop
    private let log: Log
    private let bridge: Bridge
    /// Reads the configuration again; nil: there is no file.
    private let reread: (() throws(StartError) -> BridgeConfiguration)?
    /// The socket to listen on; nil: it is still to be made.
    private let passed: ListenSocket?
    private let supervision: Supervision
    private let signals: ProcessSignals
    private var pace = ReloadPace()
    private var nextReload: LoopTimer?
    private var reaper: OrphanReaper?
    private var wakeWatcher: WakeWatcher?

    /// - Throws: what a file that is needed from the start lacks.
    init(
        _ configuration: BridgeConfiguration,
        loop: Loop,
        on passed: ListenSocket? = nil,
        for supervisor: SupervisorEnvironment = SupervisorEnvironment(),
        reread: (() throws(StartError) -> BridgeConfiguration)? = nil
    ) throws(StartError) {
        self.reread = reread
        self.passed = passed
        self.loop = loop
        // Before anything that takes long, such as a store that has to be mended: a SIGHUP would end the process.
        signals = ProcessSignals(loop: loop)
        let page = try FoundPage(
            configuration.http.publicDirectory,
            executableFolder: Machine.executableFolder
        )
        Machine.raiseDescriptorLimit()
        log = Log(settings: configuration.log, wallTime: { loop.wallTime })
        let store = try Service.openStore(in: configuration.storage.directory, loop: loop, log: log)
        bridge = Bridge(configuration, files: page.files, loop: loop, log: log, store: store)
        supervision = Supervision(supervisor, of: bridge)
        for complaint in page.complaints {
            log.warning("a folder for the page is passed over", ["reason": .text(complaint)])
        }
        log.info("the page is loaded", ["from": .text(page.place)])
    }

    private static func openStore(
        in directory: String?,
        loop: Loop,
        log: Log
    ) throws(StartError) -> BridgeStore? {
        guard let directory else { return nil }
        do throws(StorageError) {
            let store = try BridgeStore(in: directory, loop: loop, log: log)
            log.info("the store is open", ["path": .text(store.path)])
            return store
        } catch {
            throw StartError([.init(nil, error.text, .storeUnusable)])
        }
    }

    /// Serves until a signal ends it; `onListening` gets the real address.
    func run(onListening: (ListenAddress) -> Void = { _ in }) -> ExitCode {
        watchSignals()
        do throws(ListenFailure) {
            try bridge.start(on: passed)
        } catch {
            let address = bridge.configuration.http.listen.text
            log.error(
                "cannot listen; --listen or WSBRIDGE_LISTEN chooses another address",
                ["address": .text(address), "error": .text(error.error)]
            )
            return .cannotBind
        }
        if let server = bridge.server { onListening(server.address) }
        supervision.begin()
        loop.run()
        bridge.server?.stop()
        log.info("stopped")
        // Letting go of a store waits for the disk.
        if bridge.store?.isClosed == false { Machine.exitNow(ExitCode.clean.rawValue) }
        return .clean
    }

    private func watchSignals() {
        reaper = OrphanReaper(loop: loop)
        signals.onEnd = { [unowned self] number in stop(by: number) }
        signals.onHangUp = { [unowned self] in scheduleReload() }
        wakeWatcher = WakeWatcher(loop: loop) { [unowned self] in
            for connection in bridge.allConnections { connection.upstream.wake() }
        }
    }

    /// However many ask for it at once, and however fast, others get their turns.
    private func scheduleReload() {
        guard let delay = pace.asked(now: loop.now) else { return }
        nextReload = loop.startTimer(after: delay) { [unowned self] in
            let beginning = loop.now
            pace.begins()
            reload()
            pace.ended(began: beginning, now: loop.now)
        }
    }

    private func reload() {
        guard bridge.shutdown == nil else { return }
        supervision.tellReloading()
        defer { supervision.tellReady() }
        guard let reread else { return log.info("nothing to reload: there is no configuration file") }
        do throws(StartError) {
            log.write(LogRecord(bridge.reload(try reread())))
        } catch {
            for line in error.lines { log.error("the configuration is wrong", ["error": .text(line)]) }
            log.error("not reloaded: the bridge goes on with the configuration that it has")
        }
    }

    private func stop(by signal: Int32) {
        guard bridge.shutdown == nil else {
            // As a shell reports a process that the signal ended.
            Machine.exitNow(128 + signal)
        }
        log.info("stopping", ["signal": .text(signal == SIGTERM ? "SIGTERM" : "SIGINT")])
        supervision.tellStopping()
        let shutdown = Shutdown(bridge) { [unowned self] in loop.stop() }
        bridge.shutdown = shutdown
        shutdown.begin()
    }
}
