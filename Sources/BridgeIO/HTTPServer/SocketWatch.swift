internal import BridgeCore

/// Watches a socket for what changes often, and tells the kernel only when it does.
final class SocketWatch {
    private var poll: FilePoll?
    private var interest: FilePoll.Interest = []

    /// Calls `body` with what has come.
    init(loop: Loop, descriptor: Int32, _ body: @escaping (FilePoll.Interest) -> Void) {
        poll = FilePoll(loop: loop, descriptor: descriptor) { [unowned self] events in
            // libuv watches no further where it has found an error, though there may be more to read before that.
            if events == .hangUp { stop() }
            body(events)
        }
    }

    /// Watches for this from now on; for nothing if it is empty.
    func watch(for interest: FilePoll.Interest) {
        guard interest != self.interest else { return }
        self.interest = interest
        if interest.isEmpty { poll?.stop() } else { poll?.watch(for: interest) }
    }

    func stop() { watch(for: []) }
}
