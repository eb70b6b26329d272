import BridgeCore
import BridgeIO
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(1))) struct `Turns of the loop` {
    @Test func `count what was done, and not what was waited for`() {
        let loop = Loop()
        let pause = Duration.milliseconds(50)
        let start = loop.now
        loop.turnEnds()
        let before = loop.turns
        var worked = Duration.zero
        let hook = BeforeWaiting(loop: loop) { loop.turnEnds() }
        let timer = loop.startTimer(after: pause) {
            let begin = loop.now
            while loop.now - begin < .milliseconds(5) {}
            worked = loop.now - begin
            loop.stop()
        }
        loop.run()
        loop.turnEnds()
        let whole = loop.now - start
        let busy = Duration.seconds(loop.turns.sum - before.sum)
        #expect(busy >= worked - .microseconds(1))
        #expect(busy <= whole - pause + .microseconds(1))
        #expect(loop.turns.cumulative.last.map { $0 > 1 } == true)
        withExtendedLifetime((hook, timer)) {}
    }
}
