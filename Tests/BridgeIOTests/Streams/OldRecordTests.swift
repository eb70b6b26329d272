import BridgeCore
import BridgeIO
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Old records` {
    @Test func `go by themselves though nothing comes and nobody reads`() throws {
        let service = try TestService(history: HistoryLimits(maxAge: .milliseconds(20)))
        service.publish("one")
        service.publish("two", of: service.other)
        var turns: BeforeWaiting?
        turns = BeforeWaiting(loop: service.loop) {
            let kept = [service.connection, service.other].map { service.hub.log.status(of: $0).messages }
            if kept == [0, 0] { service.loop.stop() }
        }
        service.run()
        withExtendedLifetime(turns) {}
        #expect(service.hub.log.nextExpiry == nil)
        service.stop()
    }

    @Test func `are gone for a reader in time, without a turn of the loop`() throws {
        let service = try TestService(history: HistoryLimits(maxAge: .milliseconds(5)))
        service.publish("one")
        let due = service.loop.wallTime.millisecondsSince1970 + 6
        var timer: LoopTimer?
        timer = service.loop.startTimer(after: .milliseconds(10)) {
            #expect(service.loop.wallTime.millisecondsSince1970 >= due)
            #expect(service.hub.historyStatus(of: service.connection).messages == 0)
            service.loop.stop()
        }
        service.run()
        withExtendedLifetime(timer) {}
        service.stop()
    }
}
