internal import BridgeCore
package import WebSocketProtocol

extension ManagedConnection {
    /// The one socket that is dialled or open, with what is known of its frames.
    final class Line {
        let id: SocketID
        let socket: UpstreamSocket
        /// Which of the listed URLs it was dialled to; the machine may have turned to another one since.
        let urlIndex: Int
        var ledger = FrameLedger()
        /// Bytes that the kernel had taken when last asked.
        var takenBytes = 0
        /// Bytes that had come in when last asked.
        var receivedBytes: UInt64 = 0

        init(id: SocketID, socket: UpstreamSocket, urlIndex: Int) {
            self.id = id
            self.socket = socket
            self.urlIndex = urlIndex
        }

        /// Hands the socket a frame; `content` is remembered until the kernel took it.
        ///
        /// A socket that is over without having said so takes none: then it is as if it was never sent.
        func hand(_ content: FrameLedger.Content?, _ send: (UpstreamSocket) -> UInt64) {
            let frame = send(socket)
            if let content, frame > 0 { ledger.sent(content, frame: frame) }
        }
    }

    /// The URL that is dialled, or was last; nil while none was found yet.
    package var url: WebSocketURL? {
        switch route.source {
        case .listed(let urls): urls[machine.urlIndex]
        case .asked: foundURL
        }
    }

    /// The same, but nil while the URL of an attempt that begins is still to be asked for.
    package var dialledURL: WebSocketURL? {
        switch route.source {
        case .listed: url
        case .asked: line == nil ? nil : foundURL
        }
    }

    func ask(for id: SocketID) {
        guard case .asked(let provider, _) = route.source else { return }
        reachability = route.reachability
        question = URLQuestion(provider, route, surroundings) { [weak self] answer in
            guard let self else { return }
            question = nil
            switch answer {
            case .success(let url):
                foundURL = url
                reachability = route.target(url).reachability
                surroundings.sink.remarked(.question("the URL to dial is \(url.redacted)"))
                tell(.urlFound(id))
            case .failure(let failure):
                questionEnded()
                tell(.socket(id, .failed(failure)))
            }
        }
    }

    func dial(_ id: SocketID) {
        guard let url else { return }
        let socket = UpstreamSocket(loop: surroundings.loop, target: route.target(url)) { [weak self] in
            self?.happened($0, on: id)
        }
        socket.isHeldBack = isHeldBack
        socket.onRemark = { [weak self] in self?.surroundings.sink.remarked($0) }
        line = Line(id: id, socket: socket, urlIndex: machine.urlIndex)
        socket.dial()
    }

    private func happened(_ event: SocketEvent, on id: SocketID) {
        guard let line, line.id == id else { return }
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

    func sendClose(code: UInt16?, reason: String) {
        guard let line else { return }
        line.hand(nil) { $0.sendClose(code: code, reason: reason) }
        surroundings.flushes.schedule(self)
    }

    func sendPong(_ payload: [UInt8]) {
        guard let line else { return }
        line.hand(.own(.pong)) { $0.sendPong(payload) }
        surroundings.flushes.schedule(self)
    }

    func drop(_ id: SocketID) {
        if question != nil {
            question = nil
            questionEnded()
        }
        guard let line, line.id == id else { return }
        line.socket.flush()
        line.socket.reportWritten()
        line.socket.drop()
        self.line = nil
        lineEnded(line)
        // An attempt that ran out of time may have done so for want of a network.
        lookAtNetwork()
    }

    /// Writes what was sent since the last flush.
    func flush() { line?.socket.flush() }

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
