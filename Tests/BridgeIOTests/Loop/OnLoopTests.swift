import Glibc
import Testing

@testable import BridgeIO

@Suite struct `Entering the loop` {
    @Test @MainActor func `gives what the body gives`() {
        #expect(onLoop(with: (2, 3)) { $0 + $1 } == 5)
    }

    @Test func `ends the process on any other thread`() async {
        await #expect(processExitsWith: .failure) {
            await MainActor.run { onLoop(with: 1) { _ in } }
            var thread = pthread_t()
            unsafe pthread_create(
                &thread,
                nil,
                { _ in
                    onLoop(with: 1) { _ in }
                    return nil
                },
                nil
            )
            pthread_join(thread, nil)
        }
    }
}
