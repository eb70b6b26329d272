internal import BridgeCore
internal import WebSocketProtocol

/// One attempt at a way to an upstream: straight, to a unix socket, or through a proxy.
///
/// Letting go of it gives the attempt up; nothing is reported afterwards.
final class UpstreamDial {
    /// A channel to the upstream, and what came on it already.
    struct Arrival {
        let channel: any ByteChannel
        var early: [UInt8] = []
    }

    typealias Outcome = Result<Arrival, DialFailure>

    private enum Step {
        /// Becomes any other.
        case idle
        /// Wrong from the start; reports that on a later turn.
        case refusing(LoopTimer)
        case straight(AddressDial)
        case unix(SocketStream)
        case proxied(ProxiedDial)
    }

    private let loop: Loop
    private let url: WebSocketURL
    private let rule: ProxyRule
    private let completion: (Outcome) -> Void
    private var step = Step.idle

    /// Does nothing before `start`; `completion` is called once, on a later turn than that.
    init(loop: Loop, url: WebSocketURL, rule: ProxyRule, completion: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.url = url
        self.rule = rule
        self.completion = completion
    }

    func start() {
        do throws(DialFailure) {
            step = try firstStep()
        } catch {
            let timer = loop.startTimer(after: .zero) { [weak self] in self?.completion(.failure(error)) }
            step = .refusing(timer)
        }
    }

    /// Where it stands: resolving, connecting or talking to a proxy.
    var phase: DialPhase {
        switch step {
        case .idle: .dns
        case .unix: .tcp
        case .refusing: .proxy
        case .straight(let dial): dial.phase
        case .proxied(let dial): dial.phase
        }
    }

    /// Those of the host that is dialled, upstream or proxy, as far as they are known.
    var addresses: [SocketAddress] {
        switch step {
        case .idle, .unix, .refusing: []
        case .straight(let dial): dial.addresses
        case .proxied(let dial): dial.addresses
        }
    }

    /// What became of the addresses so far, for an attempt that runs out of time.
    var account: String? {
        switch step {
        case .idle, .unix, .refusing: nil
        case .straight(let dial): dial.account
        case .proxied(let dial): dial.account
        }
    }

    private func firstStep() throws(DialFailure) -> Step {
        switch url.endpoint {
        case .unix(let path):
            return .unix(connect(toSocketAt: path))
        case .tcp(let host, let port):
            let destination = Destination(host: host, port: port)
            if let proxy = try rule.proxy(for: url) {
                return .proxied(
                    ProxiedDial(loop: loop, destination: destination, proxy: proxy) { [weak self] in
                        self?.completion($0)
                    }
                )
            }
            return .straight(
                AddressDial(loop: loop, destination: destination) { [weak self] outcome in
                    self?.completion(outcome.map { Arrival(channel: $0) })
                }
            )
        }
    }

    private func connect(toSocketAt path: String) -> SocketStream {
        let stream = SocketStream(loop: loop, kind: .unix)
        stream.connect(toSocketAt: path) { [weak self] error in
            guard let self, case .unix(let stream) = step else { return }
            if let error {
                completion(.failure(DialFailure(phase: .tcp, error: "\(path): \(error)")))
            } else {
                completion(.success(Arrival(channel: stream)))
            }
        }
        return stream
    }
}
