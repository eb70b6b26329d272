import BridgeIO
import Glibc
import Testing

@MainActor @Suite(.serialized) struct `A wake watcher` {
    @Test func `tells when the process goes on after it was stopped`() {
        let loop = Loop()
        var wakes = 0
        let watcher = WakeWatcher(loop: loop) {
            wakes += 1
            loop.stop()
        }
        let patience = loop.startTimer(after: .seconds(60)) { loop.stop() }
        // As the process that was stopped gets it.
        kill(getpid(), SIGCONT)
        loop.run()
        #expect(wakes == 1)
        patience.cancel()
        withExtendedLifetime(watcher) {}
    }

    @Test func `does not keep the loop running`() {
        let loop = Loop()
        let watcher = WakeWatcher(loop: loop) {}
        loop.run()
        withExtendedLifetime(watcher) {}
    }
}
