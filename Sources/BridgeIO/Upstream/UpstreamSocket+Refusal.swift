internal import BridgeCore
internal import WebSocketProtocol

extension UpstreamSocket {
    /// How long the body of an answer may take that refuses the handshake; most come with its head.
    private static let patience = Duration.milliseconds(250)

    /// The answer to the handshake is no consent; `bytes` from `offset` on follow its head.
    func refused(
        _ answer: HandshakeFailure,
        _ handshake: ClientHandshake,
        _ bytes: Span<UInt8>,
        from offset: Int
    ) {
        if case .redirect(let answer) = answer { return follow(answer) }
        let failure = DialFailure(answer, at: loop.wallTime)
        guard let excerpt = handshake.excerpt else { return fail(failure) }
        wait(for: excerpt, of: failure, bytes, from: offset)
    }

    /// Fails once there is enough of what the upstream says to its refusal.
    func wait(for excerpt: AnswerExcerpt, of failure: DialFailure, _ bytes: Span<UInt8>, from offset: Int) {
        guard let transport else { return }
        var excerpt = excerpt
        excerpt.take(bytes, from: offset)
        guard !excerpt.isComplete else { return fail(failure, excerpt) }
        let timer: LoopTimer
        if case .refused(_, _, _, let running) = state {
            timer = running
        } else {
            timer = loop.startTimer(after: UpstreamSocket.patience) { [unowned self] in runOutOfPatience() }
        }
        state = .refused(transport, failure, excerpt, timer)
    }

    private func runOutOfPatience() {
        guard case .refused(_, let failure, let excerpt, _) = state else { return }
        fail(failure, excerpt)
    }

    func fail(_ failure: DialFailure, _ excerpt: AnswerExcerpt) {
        let text = excerpt.text
        if !text.isEmpty { onRemark(.refusalText(text)) }
        fail(failure)
    }

    /// The version of TLS that is spoken.
    package var tlsVersion: String? { transport?.tlsVersion }
}
