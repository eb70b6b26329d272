import Synchronization

@testable import Storage

/// Holds the writer's thread up where it tells of news, while it is shut.
final class Gate: Sendable {
    private let isShut = Mutex(false)
    private let opened = Doorbell()
    private let held = Doorbell()

    func shut() { isShut.withLock { $0 = true } }

    /// For the writer's thread.
    func pass() {
        guard isShut.withLock(\.self) else { return }
        held.ring()
        opened.wait(for: nil)
    }

    /// Waits until the writer is held up.
    func waitForWriter() { held.wait(for: nil) }

    func open() {
        isShut.withLock { $0 = false }
        opened.ring()
    }
}
