internal import CCURL
internal import Glibc

/// Watches a descriptor of libcurl's by a number of its own.
///
/// libcurl closes a descriptor as soon as it has said so, perhaps within a report about it, and the kernel gives its
/// number to the next one at once; what libuv did to that number later would hit the wrong one.
final class Watch {
    private let own: CInt
    private var poll: FilePoll?

    /// Nil when the process has no descriptor left.
    init?(loop: Loop, descriptor: CInt, _ body: @escaping (FilePoll.Interest) -> Void) {
        own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return nil }
        poll = FilePoll(loop: loop, descriptor: own, body)
    }

    isolated deinit {
        poll = nil
        if own >= 0 { close(own) }
    }

    /// Watches for what libcurl calls `CURL_POLL_IN`, `OUT` or both.
    func watch(for wish: CInt) {
        var interest: FilePoll.Interest = []
        if wish & CURL_POLL_IN != 0 { interest.insert(.reading) }
        if wish & CURL_POLL_OUT != 0 { interest.insert(.writing) }
        poll?.watch(for: interest)
    }

    /// Reports nothing more; not to be let go of within a report.
    func stop() { poll?.stop() }
}
