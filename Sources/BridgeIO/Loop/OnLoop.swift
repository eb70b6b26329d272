internal import Glibc

/// Enters the loop from a C callback that runs on its thread, with what the callback was lent.
///
/// Traps on any other thread. `body` gets all that it needs as arguments: what it captured would be allocated for
/// every call.
nonisolated func onLoop<Arguments, Result>(
    with arguments: Arguments,
    _ body: @escaping @MainActor (Arguments) -> Result
) -> Result {
    LoopThread.check()
    // Isolation is no part of how a function is called, and that it holds was just checked. What
    // `MainActor.assumeIsolated` does beyond this, a tenth of a short request, is to ask executors and to allocate.
    let body = unsafe unsafeBitCast(body, to: ((Arguments) -> Result).self)
    return body(arguments)
}

/// The thread of the main actor, recognised at less cost than by asking the runtime.
private nonisolated enum LoopThread {
    /// Traps unless it is the main actor that first asks.
    private static let thread = MainActor.assumeIsolated { pthread_self() }

    static func check() {
        if pthread_equal(pthread_self(), thread) == 0 { MainActor.preconditionIsolated() }
    }
}
