internal import BridgeCore
internal import CMicroHTTPD

/// Gives back to the system what many requests took at once and their streams do not need any more.
///
/// What libmicrohttpd frees lies between what subscribers keep, so the C library would hold on to it: after a thousand
/// clients came at once nearly two megabytes.
final class RequestMemory {
    /// So much later it is given back, for all that came meanwhile.
    private static let delay = Duration.milliseconds(100)
    /// What fewer requests took is kept for the next ones.
    private static let worthwhileCount = 32

    private let loop: Loop
    private var count = 0
    private var timer: LoopTimer?

    init(loop: Loop) {
        self.loop = loop
    }

    /// The memory of a request is about to be freed, as its stream goes on without.
    func becomesFree() {
        count += 1
        guard timer == nil else { return }
        timer = loop.startTimer(after: RequestMemory.delay) { [unowned self] in
            timer = nil
            if count >= RequestMemory.worthwhileCount { malloc_trim(0) }
            count = 0
        }
    }
}
