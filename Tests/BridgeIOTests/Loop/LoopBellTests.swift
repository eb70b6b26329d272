import BridgeIO
import Glibc
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `A bell of the loop` {
    private let loop = Loop()

    @Test func `rings that the loop has not got to are one, and each later one is another`() {
        let bell = LoopBell(loop: loop)
        var heard = 0
        bell.onRing = { [loop] in
            heard += 1
            // From within: the loop has got to the one before.
            if heard == 1 { bell.ring() } else { loop.stop() }
        }
        for _ in 0..<3 { bell.ring() }
        let patience = loop.startTimer(after: .seconds(60)) { [loop] in loop.stop() }
        loop.run()
        #expect(heard == 2)
        bell.onRing = {}
        patience.cancel()
    }

    @Test func `another thread wakes the loop`() async {
        let bell = LoopBell(loop: loop)
        var isHeard = false
        bell.onRing = { [loop] in
            isHeard = true
            loop.stop()
        }
        let patience = loop.startTimer(after: .seconds(60)) { [loop] in loop.stop() }
        let ringing = Task.detached { [ring = bell.ring] in ring() }
        loop.run()
        await ringing.value
        #expect(isHeard)
        patience.cancel()
    }

    @Test func `it does not keep the loop running`() {
        let bell = LoopBell(loop: loop)
        loop.run()
        withExtendedLifetime(bell) {}
    }
}
