package import BridgeCore
internal import WebSocketProtocol

/// One dialled WebSocket connection, from the name's resolution to the last byte.
///
/// Reports facts in order and decides nothing: deadlines, pongs and the close handshake are its connection's.
/// Letting go of it closes the connection. All events come on a later turn than the call that caused them, but
/// for `written`, which may come from within `flush`.
package final class UpstreamSocket {
    /// What only attempts carry lies elsewhere, as every message copies the state of an open connection.
    enum State {
        /// Becomes dialling.
        case idle
        /// Resolving, connecting, asking a proxy; becomes securing or over.
        case dialling(UpstreamDial)
        /// Shaking hands over TLS; becomes handshaking or over.
        case securing(UpstreamTransport)
        /// The request is out; becomes open, refused, over, or dialling where a redirect leads to.
        indirect case handshaking(UpstreamTransport, ClientHandshake)
        /// The attempt has failed; what the upstream says to that is still read, for a short time. Becomes over.
        indirect case refused(UpstreamTransport, DialFailure, AnswerExcerpt, LoopTimer)
        /// Becomes refusing or over.
        case open(UpstreamTransport, FrameSession)
        /// The peer broke the protocol: what comes is discarded, our close frame still goes out.
        case refusing(UpstreamTransport, FrameSession)
        /// Reported as failed or ended, or dropped.
        case over
    }

    let loop: Loop
    /// What is dialled; redirects change it.
    private(set) var target: UpstreamTarget
    private var trail = RedirectTrail()
    let onEvent: (SocketEvent) -> Void
    /// Hears what is said besides, before the event that it belongs to.
    package var onRemark: (SocketRemark) -> Void = { _ in }
    var state: State = .idle
    /// The frames that were last handed to the network, and whether it has not taken all of them yet.
    var draining = FrameMarks()
    var isDraining = false
    var reading = Reading()
    /// The addresses of the host that was dialled first, as far as they were found.
    private(set) var addresses: [SocketAddress] = []

    package init(loop: Loop, target: UpstreamTarget, onEvent: @escaping (SocketEvent) -> Void) {
        self.loop = loop
        self.target = target
        self.onEvent = onEvent
    }

    isolated deinit {
        transport?.close()
    }

    /// Where the attempt stands, for a deadline that ends it before it opened.
    package var dialPhase: DialPhase {
        switch state {
        case .dialling(let dial): dial.phase
        case .securing: .tls
        case .idle: .dns
        case .handshaking, .refused, .open, .refusing, .over: .handshake
        }
    }

    /// What became of the addresses so far, while they are dialled, and where redirects have led to.
    package var dialAccount: String? {
        let parts = [dialling?.account, redirection].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private var dialling: UpstreamDial? {
        guard case .dialling(let dial) = state else { return nil }
        return dial
    }

    private var redirection: String? {
        trail.count > 0 ? "redirected to \(target.terms.url.redacted)" : nil
    }

    /// Ends the connection at once; no event follows.
    package func drop() {
        noteAddresses()
        transport?.close()
        state = .over
    }

    private func noteAddresses() {
        if trail.count == 0, case .dialling(let dial) = state { addresses = dial.addresses }
    }

    /// Between which addresses the bytes go, once the dialled host has accepted.
    var path: SocketPath? { transport?.path }

    var transport: UpstreamTransport? {
        switch state {
        case .securing(let transport), .handshaking(let transport, _), .refused(let transport, _, _, _),
            .open(let transport, _), .refusing(let transport, _):
            transport
        case .idle, .dialling, .over: nil
        }
    }
}

// MARK: - Dialling

extension UpstreamSocket {
    /// Begins the attempt; call it once.
    ///
    /// A redirect begins it anew.
    package func dial() {
        guard case .idle = state else { return }
        // Unowned, here and below, since one weak reference makes every retain on the message path slower: a
        // dial that was let go of calls nothing.
        let dial = UpstreamDial(loop: loop, url: target.terms.url, rule: target.proxy) { [unowned self] in
            dialled($0)
        }
        state = .dialling(dial)
        dial.start()
    }

    private func dialled(_ outcome: UpstreamDial.Outcome) {
        noteAddresses()
        switch outcome {
        case .failure(let failure):
            fail(failure)
        case .success(let arrival):
            begin(arrival)
        }
    }

    private func begin(_ arrival: UpstreamDial.Arrival) {
        let tls: TLSSession?
        do throws(TLSFailure) {
            tls = try target.tlsSession { onRemark(.staleTLSFiles(error: $0)) }
        } catch {
            return fail(DialFailure(phase: .tls, error: error.error))
        }
        let transport = UpstreamTransport(arrival.channel, tls: tls)
        state = .securing(transport)
        // A transport that was closed, as `drop` and `deinit` do, calls nothing.
        transport.onReady = { [unowned self] in shakeHands() }
        transport.onReceive = { [unowned self] in received($0) }
        transport.onDrain = { [unowned self] in drained() }
        transport.onEnd = { [unowned self] in transportEnded($0) }
        transport.start(early: arrival.early)
    }

    private func shakeHands() {
        guard case .securing(let transport) = state else { return }
        do throws(HandshakeRequestError) {
            let handshake = try target.handshake()
            state = .handshaking(transport, handshake)
            _ = transport.write(handshake.request)
        } catch {
            fail(DialFailure(phase: .handshake, error: error.description))
        }
    }

    /// The answer to the handshake is a redirect: goes where it leads to, if it may.
    func follow(_ answer: RedirectAnswer) {
        do throws(RedirectRefusal) {
            let step = try trail.follow(answer, from: target.terms.url)
            transport?.close()
            target = target.redirected(by: step)
            state = .idle
            dial()
        } catch {
            fail(DialFailure(error))
        }
    }

    func fail(_ failure: DialFailure) {
        var failure = failure
        if let redirection { failure.error += " (\(redirection))" }
        transport?.close()
        state = .over
        onEvent(.failed(failure))
    }

    func transportEnded(_ error: String?) {
        switch state {
        case .securing:
            let text = error ?? "the upstream closed the connection during the TLS handshake"
            fail(DialFailure(phase: .tls, error: text))
        case .handshaking(let transport, _):
            let text = error ?? "the upstream closed the connection without an answer to the handshake"
            // With TLS 1.3 a server looks at our certificate when we are through with the handshake already.
            fail(DialFailure(phase: transport.isRefusedByTLS ? .tls : .handshake, error: text))
        case .refused(_, let failure, let excerpt, _):
            fail(failure, excerpt)
        case .open where reading.hasBacklog:
            reading.end = .some(error)
        case .open, .refusing:
            reportWritten()
            state = .over
            onEvent(.ended(error: error))
        case .idle, .dialling, .over:
            break
        }
    }
}
