/// Enters the loop from a C callback that runs on the main thread, with what the callback was lent.
///
/// Enter once a callback: the check costs more than what most callbacks do.
nonisolated func onLoop<Arguments, Result: Sendable>(
    with arguments: Arguments,
    _ body: @MainActor (Arguments) -> Result
) -> Result {
    // Nothing crosses a thread here: the callback and the body both run on the main one, which is checked.
    nonisolated(unsafe) let arguments = arguments
    return MainActor.assumeIsolated { unsafe body(arguments) }
}
