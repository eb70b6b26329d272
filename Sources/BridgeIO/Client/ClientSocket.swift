internal import BridgeCore
internal import CUV
internal import Glibc

/// A connection to the bridge for commands, which have nothing else to do than wait for it.
///
/// It blocks, each time up to a deadline; nil: for ever. Letting go of it closes it.
@safe final class ClientSocket {
    typealias Deadline = ContinuousClock.Instant

    private let descriptor: Int32
    /// Nil: what is sent and received is plain.
    private var tls: TLSSession?
    /// Came, was decrypted, and was not asked for yet.
    private var decrypted: [UInt8] = []
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// Connects to the first of the host's addresses that answers.
    init(_ endpoint: BridgeEndpoint, by deadline: Deadline) throws(ClientFailure) {
        let address = endpoint.address
        switch address {
        case .unix(let path):
            descriptor = try ClientSocket.open(AF_UNIX, by: deadline) { descriptor in
                unsafe withUnixAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
            }
        case .tcp(let host, let port):
            descriptor = try ClientSocket.open(host: host, port: port, by: deadline)
        }
        // Notices a bridge whose machine has vanished, however long nothing is to be read.
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        if case .tcp = address {
            set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
            set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 30)
            set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
            set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
        }
        if let peer = endpoint.peer { tls = try handshake(with: peer, at: address, by: deadline) }
    }

    deinit { close(descriptor) }

    // MARK: Connecting

    private static func open(
        host: String?,
        port: UInt16,
        by deadline: Deadline
    ) throws(ClientFailure) -> Int32 {
        let addresses: [SocketAddress]
        do throws(ListenFailure) {
            addresses = try ListenSocket.addresses(host: host, port: port)
        } catch {
            throw .unreachable(error.error)
        }
        var failure = ClientFailure.unreachable("no address found")
        for address in addresses {
            do throws(ClientFailure) {
                return try open(address.isIPv6 ? AF_INET6 : AF_INET, by: deadline) { descriptor in
                    unsafe address.withSocketAddress { unsafe Glibc.connect(descriptor, $0, $1) }
                }
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func open(
        _ family: Int32,
        by deadline: Deadline,
        _ connect: (Int32) -> Int32
    ) throws(ClientFailure) -> Int32 {
        let descriptor: Int32
        do throws(ListenFailure) {
            descriptor = try ListenSocket.open(family)
        } catch {
            throw .unreachable(error.error)
        }
        var failure: Int32 = connect(descriptor) == 0 ? 0 : errno
        if failure == EINPROGRESS {
            failure = wait(descriptor, for: POLLOUT, by: deadline) ? error(of: descriptor) : ETIMEDOUT
        }
        guard failure == 0 else {
            close(descriptor)
            throw .unreachable(text(failure))
        }
        return descriptor
    }

    private static func error(of descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) == 0 ? value : errno
    }

    // MARK: TLS

    private func handshake(
        with peer: BridgePeer,
        at address: ListenAddress,
        by deadline: Deadline
    ) throws(ClientFailure) -> TLSSession {
        var host = "localhost"
        if case .tcp(let name?, _) = address { host = name }
        // Whose certificate it is is looked at below: its names need not be the ones that we know the bridge by.
        var settings = TLSSettings()
        settings.verifies = false
        let session = try ClientSocket.unreachable { () throws(TLSFailure) -> TLSSession in
            try TLSSession(context: TLSContext(settings), host: host, peer: "the bridge")
        }
        while true {
            let isComplete = try ClientSocket.unreachable { () throws(TLSFailure) -> Bool in
                try session.handshake()
            }
            let isSent = try write(session.takeOutput(), by: deadline)
            if isComplete { break }
            guard isSent, try ingest(into: session, by: deadline) else {
                throw .unreachable("it closed the connection")
            }
        }
        guard case .holder(let file) = peer else { return session }
        guard let expected = CertificateFile.first(in: file), session.peerCertificate == expected else {
            throw .unreachable(
                "its certificate is not the one in \(file); if that was renewed, reload the bridge"
            )
        }
        return session
    }

    private static func unreachable<Result>(
        _ body: () throws(TLSFailure) -> Result
    ) throws(ClientFailure) -> Result {
        do throws(TLSFailure) {
            return try body()
        } catch {
            throw .unreachable(error.error)
        }
    }

    /// Waits for bytes and hands them to TLS; returns false if the peer closed.
    private func ingest(into session: TLSSession, by deadline: Deadline?) throws(ClientFailure) -> Bool {
        let bytes = try read(by: deadline, output: nil)
        session.receive(bytes.span)
        return !bytes.isEmpty
    }

    /// Decrypts what came.
    private func decrypt(_ session: TLSSession) throws(ClientFailure) {
        let end = session.read { bytes in
            unsafe bytes.withUnsafeBytes { unsafe decrypted.append(contentsOf: $0) }
            return true
        }
        switch end {
        case .needsMore: break
        case .closed: hasEnded = true
        case .failed(let failure): throw .interrupted(failure.error)
        }
    }

    // MARK: Sending and receiving

    /// Whether nothing came on a connection on which nothing was asked for, not even its end.
    var isQuiet: Bool {
        decrypted.isEmpty && !hasEnded && !ClientSocket.wait(descriptor, for: POLLIN, by: .now)
    }

    /// Writes everything, unless an answer comes before or the peer closes.
    ///
    /// Either way `receive` tells what the peer had to say. Returns whether everything was written.
    func send(_ bytes: [UInt8], by deadline: Deadline) throws(ClientFailure) -> Bool {
        guard let tls else { return try write(bytes, by: deadline) }
        do throws(TLSFailure) {
            try tls.write(bytes)
        } catch {
            throw .interrupted(error.error)
        }
        return try write(tls.takeOutput(), by: deadline)
    }

    private func write(_ bytes: [UInt8], by deadline: Deadline) throws(ClientFailure) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, WSB_MSG_NOSIGNAL)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                guard ClientSocket.wait(descriptor, for: POLLIN | POLLOUT, by: deadline) else {
                    throw .interrupted("it takes no more bytes")
                }
                if try hasAnswer(by: deadline) { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether the peer has something to say, be it that it closes; what TLS says for itself is none of that.
    private func hasAnswer(by deadline: Deadline) throws(ClientFailure) -> Bool {
        guard let tls else { return !isQuiet }
        while ClientSocket.wait(descriptor, for: POLLIN, by: .now), !hasEnded {
            hasEnded = try !ingest(into: tls, by: deadline)
            try decrypt(tls)
        }
        return !decrypted.isEmpty || hasEnded
    }

    /// Waits for bytes; none: the peer closed.
    ///
    /// The wait also ends when `output` is a pipe whose reader is gone. After the deadline nothing is received, though it
    /// may be there: a peer that never stops sending must not be waited for.
    func receive(by deadline: Deadline?, output: Int32?) throws(ClientFailure) -> [UInt8] {
        guard let tls else { return try read(by: deadline, output: output) }
        while decrypted.isEmpty, !hasEnded {
            let bytes = try read(by: deadline, output: output)
            hasEnded = bytes.isEmpty
            tls.receive(bytes.span)
            try decrypt(tls)
        }
        defer { decrypted = [] }
        return decrypted
    }

    private func read(by deadline: Deadline?, output: Int32?) throws(ClientFailure) -> [UInt8] {
        while true {
            let isLate = deadline.map { $0 <= .now } ?? false
            guard !isLate, ClientSocket.wait(descriptor, for: POLLIN, by: deadline, output: output) else {
                throw .interrupted("it does not answer in time")
            }
            if let output, ClientSocket.isBroken(output) { throw .outputClosed }
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return Array(buffer[..<count]) }
            guard errno == EINTR || errno == EAGAIN else { throw .interrupted(ClientSocket.text(errno)) }
        }
    }

    // MARK: System calls

    /// Returns whether it happened in time; a broken output counts as happening.
    private static func wait(
        _ descriptor: Int32,
        for events: Int32,
        by deadline: Deadline?,
        output: Int32? = nil
    ) -> Bool {
        while true {
            var polls = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
            if let output { polls.append(pollfd(fd: output, events: 0, revents: 0)) }
            let count = unsafe poll(&polls, nfds_t(polls.count), timeout(deadline))
            if count > 0 { return true }
            if count == 0, let deadline, deadline <= .now { return false }
            guard count == 0 || errno == EINTR else { return false }
        }
    }

    private static func isBroken(_ output: Int32) -> Bool {
        var state = pollfd(fd: output, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) > 0
    }

    /// In milliseconds, as `poll` has it.
    private static func timeout(_ deadline: Deadline?) -> Int32 {
        guard let deadline else { return -1 }
        return Int32(clamping: max(0, (deadline - .now).milliseconds + 1))
    }

    private static func text(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text).lowercased()
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
