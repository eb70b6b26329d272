/// What users asked for while a connection closes to begin anew with other settings, for it to do then.
///
/// Little is kept, however often they ask: each wish ends those before it that it makes pointless.
package struct PendingWishes: Sendable {
    private var wish: ConnectionMachine.Event?
    /// Whether a pause was asked for since, or its end.
    private var pause: ConnectionMachine.Event?

    package init() {}

    /// The connection is to be closed, and so takes no messages.
    package var shuts: Bool {
        if case .disconnectRequested? = wish { true } else { false }
    }

    /// One of `connectRequested`, `disconnectRequested`, `reconnectRequested`, `pauseRequested` and `resumeRequested`.
    package mutating func add(_ event: ConnectionMachine.Event) {
        if event == .pauseRequested || event == .resumeRequested {
            pause = event
        } else {
            wish = event
            pause = nil
        }
    }

    /// Hands out what is to be done, in order.
    package mutating func take() -> [ConnectionMachine.Event] {
        defer { self = PendingWishes() }
        return [wish, pause].compactMap(\.self)
    }
}
