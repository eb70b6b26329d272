internal import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// A socket that is dialled or open, with what is known of its frames.
    final class Line {
        let id: SocketID
        let socket: UpstreamSocket
        /// Which of the listed URLs it was dialled to, if it is one of these; the machine may have turned to another one
        /// since.
        let urlIndex: Int?
        var ledger = FrameLedger()
        /// Bytes that the kernel had taken when last asked.
        var takenBytes = 0
        /// Bytes that had come in when last asked.
        var receivedBytes: UInt64 = 0

        init(id: SocketID, socket: UpstreamSocket, urlIndex: Int?) {
            self.id = id
            self.socket = socket
            self.urlIndex = urlIndex
        }

        /// Hands the socket a frame; `content` is remembered until the kernel took it.
        ///
        /// A socket that is over without having said so takes none: then it is as if it was never sent, and false is
        /// returned.
        @discardableResult
        func hand(_ content: FrameLedger.Content?, _ send: (UpstreamSocket) -> UInt64) -> Bool {
            let frame = send(socket)
            if let content, frame > 0 { ledger.sent(content, frame: frame) }
            return frame > 0
        }
    }

    /// The URL that is dialled, or was last; nil while none was found yet.
    package var url: WebSocketURL? { machine.elsewhere ?? ownURL }

    /// The listed one, or what was found.
    private var ownURL: WebSocketURL? {
        switch route.source {
        case .listed(let urls): urls[machine.urlIndex]
        case .asked: foundURL
        }
    }

    /// The same, but nil while the URL of an attempt that begins is still to be asked for.
    package var dialledURL: WebSocketURL? {
        if let elsewhere = machine.elsewhere { return elsewhere }
        return switch route.source {
        case .listed: url
        case .asked: line == nil ? nil : foundURL
        }
    }

    func ask(for id: SocketID) {
        guard case .asked(let provider, _) = route.source else { return }
        reachability.turn(to: route.reachability)
        let asked = URLQuestion(provider, route, surroundings) { [weak self] answer in
            guard let self else { return }
            question = nil
            switch answer {
            case .success(let url):
                foundURL = url
                reachability.turn(to: route.target(url).reachability)
                surroundings.sink.remarked(.question("the URL to dial is \(url.redacted)"))
                tell(.urlFound(id))
            case .failure(let failure):
                questionEnded()
                tell(.socket(id, .failed(failure)))
            }
        }
        question = (id, asked)
    }

    func dial(_ id: SocketID) {
        guard let url = ownURL else { return }
        dial(id, route.target(url), urlIndex: machine.urlIndex)
    }

    /// Dials a URL that came in a message: as a redirect is followed, with what is secret for its own origin alone.
    func dial(_ id: SocketID, elsewhere url: WebSocketURL) {
        guard let own = ownURL else {
            return tell(.socket(id, .failed(DialFailure(phase: .url, error: "no URL was found before"))))
        }
        guard url.isSecure || !own.isSecure else {
            let text = "a message leads from wss to ws, which would give up TLS"
            return tell(.socket(id, .failed(DialFailure(phase: .url, error: text))))
        }
        let isSame = url.hasSameOrigin(as: own)
        let step = RedirectTrail.Step(url: isSame ? url.authorized(as: own) : url, crossesOrigin: !isSame)
        dial(id, route.target(own).redirected(by: step), urlIndex: nil)
    }

    private func dial(_ id: SocketID, _ target: UpstreamTarget, urlIndex: Int?) {
        let socket = UpstreamSocket(loop: surroundings.loop, target: target) { [weak self] in
            self?.happened($0, on: id)
        }
        socket.isHeldBack = isHeldBack
        socket.onRemark = { [weak self] in self?.surroundings.sink.remarked($0) }
        let new = Line(id: id, socket: socket, urlIndex: urlIndex)
        if line == nil { line = new } else { otherLines.append(new) }
        socket.dial()
    }

    var lines: [Line] { (line.map { [$0] } ?? []) + otherLines }

    func line(_ id: SocketID) -> Line? {
        line?.id == id ? line : otherLines.first { $0.id == id }
    }

    private func happened(_ event: SocketEvent, on id: SocketID) {
        guard let line, line.id == id else { return happened(event, onOther: id) }
        switch event {
        case .written(let frame):
            // At once, also from within a flush that an action makes: what is written must not go back.
            settle(line, through: frame)
        case .failed:
            self.line = nil
            // Before the machine hears of it: without a network this was no attempt.
            lineEnded(line)
            lookAtNetwork()
            tell(.socket(id, event))
        case .ended:
            self.line = nil
            lineEnded(line)
            tell(.socket(id, event))
        case .opened:
            tell(.socket(id, event))
            lineOpened(line)
        case .pong(let payload):
            confirm(by: payload)
            tell(.socket(id, event))
        case .message, .ping, .closeFrame, .violation:
            tell(.socket(id, event))
        }
    }

    private func happened(_ event: SocketEvent, onOther id: SocketID) {
        guard let line = line(id) else { return }
        switch event {
        case .written(let frame): return settle(line, through: frame)
        case .failed, .ended: forget(line)
        case .opened, .pong, .message, .ping, .closeFrame, .violation: break
        }
        tell(.socket(id, event))
    }

    /// A socket is gone that does not carry the messages.
    private func forget(_ line: Line) {
        otherLines.removeAll { $0.id == line.id }
        schedule.lost(line.id, now: surroundings.loop.now)
        loseRequests(on: line.id)
    }

    func sendClose(on id: SocketID, code: UInt16?, reason: String) {
        guard let line = line(id) else { return }
        schedule.forget(id)
        line.hand(nil) { $0.sendClose(code: code, reason: reason) }
        surroundings.flushes.schedule(self)
    }

    func sendPong(_ payload: [UInt8], on id: SocketID) {
        guard let line = line(id) else { return }
        line.hand(.own(.pong)) { $0.sendPong(payload) }
        surroundings.flushes.schedule(self)
    }

    func drop(_ id: SocketID) {
        if question?.id == id {
            question = nil
            questionEnded()
        }
        guard let line = line(id) else { return }
        line.socket.flush()
        line.socket.reportWritten()
        line.socket.drop()
        guard id == self.line?.id else { return forget(line) }
        self.line = nil
        lineEnded(line)
        // An attempt that ran out of time may have done so for want of a network.
        lookAtNetwork()
    }

    /// Fills and flushes at the end of the turn, once for all that the turn brings.
    func fillLater() {
        isFillDue = true
        surroundings.flushes.schedule(self)
    }

    /// Writes what was sent since the last flush.
    func flush() {
        if isFillDue {
            isFillDue = false
            fill()
        }
        line?.socket.flush()
        for line in otherLines { line.socket.flush() }
    }

    /// Tells the machine if the kernel took anything, or the peer sent anything, since this was last called, and
    /// whether an answer may still stand behind what came.
    func noteProgress() {
        guard let line else { return }
        let taken = line.socket.writtenBytes
        // A heartbeat that the rate holds back must not count as one that the peer does not take.
        if taken > line.takenBytes || schedule.holdsHeartbeat { tell(.writeProgressed(line.id)) }
        line.takenBytes = taken
        let received = line.socket.receivedBytes
        let intake = line.socket.intake
        let hasGrown = received > line.receivedBytes
        if hasGrown || intake != .betweenMessages {
            tell(.readProgressed(line.id, intake, hasGrown: hasGrown))
        }
        line.receivedBytes = received
    }
}
