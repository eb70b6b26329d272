internal import BridgeCore
internal import CUV
internal import Glibc

/// One client's TLS: what it sends is decrypted for the daemon, and what is written for it is encrypted.
///
/// A pair of sockets stands for the client's own. One end is the daemon's, which does with it, as do the streams, what they
/// do with a socket: read, write, watch, suspend, take it away, close it. The other end is ours. The end of a side, and that
/// there is no room, are passed on, so that a client over TLS is treated as any other. What a client can make us hold is
/// bounded: nothing is read where the other side takes nothing.
@safe final class TLSRelay {
    /// What is encrypted at a time: the most that a record of TLS holds.
    private static let pieceBytes = 16 * 1024
    /// So many pieces at a time, so that others get their turn.
    private static let mostPieces = 8
    /// What a client may still send that nobody reads, before it is cut off.
    private static let mostUnwanted = 256 * 1024
    /// What TLS may have said by itself, such as answers to requests for new keys, before no more is read.
    private static let mostSealed = 64 * 1024
    /// How long it may take to close its side, after ours.
    private static let patienceForEnd = Duration.seconds(5)

    private let loop: Loop
    private let session: TLSSession
    /// The client's.
    private let outer: Int32
    /// Ours of the pair.
    let inner: Int32
    private let onGone: (TLSRelay) -> Void
    /// How long a client may take nothing of what is left for it.
    private let patienceForRest: Duration
    private var outerWatch: SocketWatch?
    private var innerWatch: SocketWatch?
    private var isEstablished = false
    private var inbound = Inbound.open
    private var outbound = Outbound.open
    /// Decrypted, and not taken by the daemon's end yet.
    private var plain: ArraySlice<UInt8> = []
    /// Encrypted, and not taken by the client's socket yet.
    private var sealed: ArraySlice<UInt8> = []
    private var unwantedBytes = 0
    private var patience: LoopTimer?
    private(set) var isGone = false

    /// Takes over both descriptors; `onGone` is called once, when they are closed.
    init(
        loop: Loop,
        session: TLSSession,
        outer: Int32,
        inner: Int32,
        patienceForRest: Duration = .seconds(30),
        onGone: @escaping (TLSRelay) -> Void
    ) {
        self.loop = loop
        self.session = session
        self.outer = outer
        self.inner = inner
        self.patienceForRest = patienceForRest
        self.onGone = onGone
        SocketWriter.prepare(outer)
        outerWatch = SocketWatch(loop: loop, descriptor: outer) { [unowned self] in outerHappened($0) }
        innerWatch = SocketWatch(loop: loop, descriptor: inner) { [unowned self] in innerHappened($0) }
        settle()
    }

    /// It only waits for its client to take the rest, or to go.
    var isEnding: Bool { if case .open = outbound { false } else { true } }

    /// Something was written for the client that is not with its kernel yet.
    var isOwing: Bool {
        guard !isGone else { return false }
        switch outbound {
        case .open: return !sealed.isEmpty || hasInput
        case .closing, .ending: return true
        case .ended: return false
        }
    }

    /// Whether the client, which is owed something, does not answer any more.
    var hasVanished: Bool { SocketWriter.hasVanished(outer) }

    /// Passes on what there is, as far as that goes at once, and closes.
    func finish() {
        while !isGone, sealed.isEmpty, outbound.hasMore, isEstablished, hasInput { sendOn() }
        if !isGone { endOutbound() }
        close()
    }

    /// Closes both sides at once; idempotent.
    func close() {
        guard !isGone else { return }
        isGone = true
        // Before the descriptors are closed: their numbers may be others' right away.
        outerWatch?.stop()
        innerWatch?.stop()
        patience = nil
        Glibc.close(outer)
        Glibc.close(inner)
        onGone(self)
    }

    // MARK: What happened

    private func outerHappened(_ events: FilePoll.Interest) {
        if events.contains(.writing) { flushSealed() }
        if !isGone, events.contains(.reading) || events.contains(.hangUp) { receive() }
        settle()
    }

    private func innerHappened(_ events: FilePoll.Interest) {
        // What cannot be passed on any more is told in place of room for it.
        if events.contains(.writing) || events.contains(.hangUp) { flushPlain() }
        if events.contains(.hangUp), !sealed.isEmpty { beginClosing() }
        if !isGone, events.contains(.reading) || events.contains(.hangUp) { sendOn() }
        settle()
    }

    /// Watches for what can be gone on with.
    private func settle() {
        guard !isGone else { return }
        if case .ended = inbound, case .ended = outbound { return close() }
        var outerInterest: FilePoll.Interest = sealed.isEmpty ? [] : .writing
        switch inbound {
        case .open where plain.isEmpty && sealed.count <= TLSRelay.mostSealed, .unwanted:
            outerInterest.insert(.reading)
        case .open, .ended: break
        }
        var innerInterest: FilePoll.Interest = plain.isEmpty ? [] : .writing
        switch outbound {
        // All that is of interest before there are keys, and while the client takes nothing, is the end.
        case .open: innerInterest.insert(isEstablished && sealed.isEmpty ? .reading : .hangUp)
        case .closing where sealed.isEmpty: innerInterest.insert(.reading)
        case .closing, .ending, .ended: break
        }
        outerWatch?.watch(for: outerInterest)
        innerWatch?.watch(for: innerInterest)
    }

    // MARK: From the client

    /// Reads what the client has sent, which the loop's buffer lends.
    private func receive() {
        let buffer = unsafe UnsafeMutableRawPointer(mutating: loop.readBuffer.baseAddress)
        let count = unsafe recv(outer, buffer, loop.readBuffer.count, WSB_MSG_DONTWAIT)
        guard count > 0 else {
            if count == 0 { return endInbound() }
            if errno != EAGAIN, errno != EINTR { close() }
            return
        }
        guard case .open = inbound else {
            unwantedBytes += count
            if unwantedBytes > TLSRelay.mostUnwanted { close() }
            return
        }
        let bytes = unsafe UnsafeBufferPointer(rebasing: loop.readBuffer[..<count])
        session.receive(unsafe bytes.span)
        decrypt()
    }

    private func decrypt() {
        do throws(TLSFailure) {
            if !isEstablished { isEstablished = try session.handshake() }
            if isEstablished {
                switch session.read({ pass($0) }) {
                case .needsMore: break
                case .closed: endInbound()
                case .failed(let failure): throw failure
                }
            }
            takeSealed()
        } catch {
            refuse(error)
        }
        if !isGone { flushSealed() }
    }

    /// Hands decrypted bytes to the daemon's end; returns whether more may follow.
    private func pass(_ bytes: Span<UInt8>) -> Bool {
        guard case .open = inbound else { return true }
        unsafe bytes.withUnsafeBytes { bytes in
            guard plain.isEmpty else {
                unsafe plain.append(contentsOf: bytes)
                return
            }
            switch unsafe SocketWriter.send(inner, bytes) {
            case .written(let count): unsafe plain = ArraySlice(bytes.dropFirst(count))
            case .blocked: unsafe plain = ArraySlice(bytes)
            case .gone: inbound = .unwanted
            }
        }
        return true
    }

    private func flushPlain() {
        guard !plain.isEmpty else { return }
        switch unsafe plain.withUnsafeBytes({ unsafe SocketWriter.send(inner, $0) }) {
        case .written(let count): plain = plain.dropFirst(count)
        case .blocked: return
        case .gone:
            plain = []
            if case .open = inbound { inbound = .unwanted }
        }
        if plain.isEmpty, case .ended = inbound { shutdown(inner, WSB_SHUT_WR) }
    }

    /// The client has closed its side, of TLS or of the connection.
    private func endInbound() {
        // It can never finish what it has not begun.
        guard isEstablished else { return close() }
        inbound = .ended
        if plain.isEmpty { shutdown(inner, WSB_SHUT_WR) }
    }

    /// Goes no further with a client that does not speak TLS, or none that we do; says so if there is a way.
    private func refuse(_ failure: TLSFailure) {
        inbound = .unwanted
        plain = []
        if failure.isPlainHTTP { sealed += HTTPResponse.plainToSecure } else { takeSealed() }
        // The daemon sees a client that is gone.
        shutdown(inner, WSB_SHUT_RDWR)
        guard outbound.hasMore else { return }
        outbound = .ending
        beImpatient(after: patienceForRest)
    }

    // MARK: To the client

    /// Encrypts what was written for the client, while it takes what was encrypted before.
    private func sendOn() {
        for _ in 0..<TLSRelay.mostPieces {
            guard !isGone, outbound.hasMore, sealed.isEmpty, sendPiece() else { return }
        }
    }

    /// Returns whether there may be more.
    private func sendPiece() -> Bool {
        let buffer = unsafe UnsafeMutableRawPointer(mutating: loop.readBuffer.baseAddress)
        let count = unsafe recv(inner, buffer, TLSRelay.pieceBytes, WSB_MSG_DONTWAIT)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { endOutbound() }
            return false
        }
        do throws(TLSFailure) {
            try session.write(unsafe UnsafeBufferPointer(rebasing: loop.readBuffer[..<count]).span)
            takeSealed()
            flushSealed()
        } catch {
            close()
        }
        return count == TLSRelay.pieceBytes
    }

    private func takeSealed() {
        let output = session.takeOutput()
        if sealed.isEmpty { sealed = output[...] } else { sealed += output }
    }

    private func flushSealed() {
        while !sealed.isEmpty {
            switch unsafe sealed.withUnsafeBytes({ unsafe SocketWriter.send(outer, $0) }) {
            case .written(let count):
                sealed = sealed.dropFirst(count)
                if isEnding { beImpatient(after: patienceForRest) }
            case .blocked: return
            case .gone: return close()
            }
        }
        // Not to hold on to what it was a part of.
        sealed = []
        guard case .ending = outbound else { return }
        outbound = .ended
        shutdown(outer, WSB_SHUT_WR)
        beImpatient(after: TLSRelay.patienceForEnd)
    }

    /// Whoever wrote for the client has ended, while that takes nothing of what was written before.
    private func beginClosing() {
        guard case .open = outbound else { return }
        outbound = .closing
        beImpatient(after: patienceForRest)
    }

    /// All that was written for the client is encrypted.
    private func endOutbound() {
        guard outbound.hasMore else { return }
        outbound = .ending
        session.close()
        takeSealed()
        beImpatient(after: patienceForRest)
        flushSealed()
    }

    private func beImpatient(after delay: Duration) {
        patience = loop.startTimer(after: delay) { [unowned self] in close() }
    }
}
