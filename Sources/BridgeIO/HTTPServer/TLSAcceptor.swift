internal import BridgeCore
internal import CUV
internal import Glibc

/// Accepts clients that speak TLS, in the place of the daemon, which gets sockets without.
final class TLSAcceptor {
    /// So many at a time, so that others get their turn.
    private static let mostPerTurn = 64
    /// How long nobody is accepted when there are no descriptors left.
    private static let pauseWithoutDescriptors = Duration.milliseconds(100)

    private let loop: Loop
    private let listener: Int32
    private let certificate: ServerCertificate
    /// Beyond so many those go first that only wait for their clients to go.
    private let limit: Int
    private let presenceInterval: Duration
    /// Takes over the daemon's end of a client's pair, unless there is no room for it.
    private let admit: (Int32, PeerAddress) -> Bool
    private var watch: FilePoll?
    private var pause: LoopTimer?
    private var presence: LoopTimer?
    private var relays: [ObjectIdentifier: TLSRelay] = [:]

    init(
        loop: Loop,
        listener: Int32,
        certificate: ServerCertificate,
        limit: Int,
        presenceInterval: Duration,
        admit: @escaping (Int32, PeerAddress) -> Bool
    ) {
        self.loop = loop
        self.listener = listener
        self.certificate = certificate
        self.limit = limit
        self.presenceInterval = presenceInterval
        self.admit = admit
        watch = FilePoll(loop: loop, descriptor: listener) { [unowned self] _ in acceptSome() }
        watch?.watch(for: .reading)
    }

    /// Something that was written for a client is not with its kernel yet.
    var isOwing: Bool { relays.values.contains(where: \.isOwing) }

    /// Accepts nobody any more; those that are there stay.
    func stopAccepting() {
        watch?.stop()
        watch = nil
        pause = nil
    }

    /// Closes all, as the process ends; what their kernels take at once they get.
    func closeAll() {
        stopAccepting()
        presence = nil
        for relay in Array(relays.values) { relay.finish() }
    }

    /// A pair of connected sockets; nil if there are no descriptors for it.
    static func pair() -> (ours: Int32, theirs: Int32)? {
        var ends: [Int32] = [-1, -1]
        let kind = WSB_SOCK_STREAM | WSB_SOCK_NONBLOCK | WSB_SOCK_CLOEXEC
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        return (ends[0], ends[1])
    }

    // MARK: Accepting

    private func acceptSome() {
        for _ in 0..<TLSAcceptor.mostPerTurn {
            var address = PeerAddress()
            guard let client = address.accept(from: listener) else {
                // Otherwise it would be told of again at once, and in vain.
                if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM { rest() }
                return
            }
            take(client, address)
        }
    }

    private func rest() {
        watch?.stop()
        pause = loop.startTimer(after: TLSAcceptor.pauseWithoutDescriptors) { [unowned self] in
            watch?.watch(for: .reading)
        }
    }

    private func take(_ client: Int32, _ address: PeerAddress) {
        if relays.count >= limit { relays.values.first(where: \.isEnding)?.close() }
        guard let session = try? certificate.session(), let pair = TLSAcceptor.pair() else {
            close(client)
            return
        }
        guard admit(pair.theirs, address) else {
            close(client)
            close(pair.ours)
            return
        }
        let relay = TLSRelay(loop: loop, session: session, outer: client, inner: pair.ours) {
            [unowned self] relay in relays[ObjectIdentifier(relay)] = nil
        }
        relays[ObjectIdentifier(relay)] = relay
        watchPresence()
    }

    /// Drops those whose clients have vanished: the sockets that the daemon and the streams have cannot tell.
    private func watchPresence() {
        guard presence == nil else { return }
        presence = loop.startTimer(after: presenceInterval) { [unowned self] in
            presence = nil
            for relay in Array(relays.values) where relay.hasVanished { relay.close() }
            if !relays.isEmpty { watchPresence() }
        }
    }
}

/// Where a client connected from, in the kernel's form.
@safe struct PeerAddress {
    private var storage = sockaddr_storage()
    private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Accepts a client, and becomes its address; nil, and `errno`, if there is none.
    mutating func accept(from listener: Int32) -> Int32? {
        let descriptor = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                unsafe Glibc.accept(listener, name, &length)
            }
        }
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        return descriptor
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }
}

extension HTTPResponse {
    /// What a client gets that sends HTTP where HTTPS is spoken; as it goes out.
    static let plainToSecure: [UInt8] = {
        let text = "This port speaks HTTPS: write https:// in the place of http://.\n"
        let head = [
            "HTTP/1.1 400 Bad Request", "Content-Type: text/plain; charset=utf-8",
            "Content-Length: \(text.utf8.count)", "Connection: close", "", "",
        ]
        return [UInt8]((head.joined(separator: "\r\n") + text).utf8)
    }()
}
