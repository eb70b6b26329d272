internal import BridgeCore
internal import CUV
internal import Glibc

/// A connection to the bridge for commands, which have nothing else to do than wait for it.
///
/// It blocks, each time up to a deadline; nil: for ever. Letting go of it closes it.
@safe final class ClientSocket {
    typealias Deadline = ContinuousClock.Instant

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// Connects to the first of the host's addresses that answers.
    init(_ address: ListenAddress, by deadline: Deadline) throws(ClientFailure) {
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

    // MARK: Sending and receiving

    /// Whether nothing came on a connection on which nothing was asked for, not even its end.
    var isQuiet: Bool { !ClientSocket.wait(descriptor, for: POLLIN, by: .now) }

    /// Writes everything, unless an answer comes before or the peer closes.
    ///
    /// Either way `receive` tells what the peer had to say. Returns whether everything was written.
    func send(_ bytes: [UInt8], by deadline: Deadline) throws(ClientFailure) -> Bool {
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
                if !isQuiet { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits for bytes; none: the peer closed.
    ///
    /// The wait also ends when `output` is a pipe whose reader is gone. After the deadline nothing is received, though it
    /// may be there: a peer that never stops sending must not be waited for.
    func receive(by deadline: Deadline?, output: Int32?) throws(ClientFailure) -> [UInt8] {
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
