internal import BridgeCore
internal import WebSocketProtocol

/// One attempt at a TCP connection: resolves a name anew and tries its addresses in turn.
///
/// Letting go of it gives the attempt up; nothing is reported afterwards.
final class AddressDial {
    /// A connection that is not read yet, or why there is none.
    typealias Outcome = Result<TCPStream, DialFailure>

    /// Where it stands: resolving or connecting.
    private(set) var phase: DialPhase = .dns

    private let loop: Loop
    private let completion: (Outcome) -> Void
    private var lookup: NameLookup?
    private var stream: TCPStream?
    /// Reports what was wrong from the start on a later turn.
    private var deferred: LoopTimer?
    /// What became of the addresses so far.
    private var refusals: [String] = []
    private static let maximumRefusalsShown = 4
    /// Keeps a fast line busy until the next turn of the loop, and a ping from waiting behind megabytes.
    private static let mostUnsentBytes: CInt = 128 * 1024

    /// Begins to dial; `completion` is called once, on a later turn.
    init(loop: Loop, endpoint: WebSocketURL.Endpoint, completion: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.completion = completion
        switch endpoint {
        case .tcp(let host, let port):
            if let address = SocketAddress(literal: host, port: port) {
                connect([address])
            } else {
                lookup = loop.resolve(host: host, port: port) { [weak self] in self?.resolved(host, $0) }
            }
        case .unix:
            deferred = loop.startTimer(after: .zero) { [weak self] in
                self?.fail("ws+unix upstreams are not supported yet")
            }
        }
    }

    private func resolved(_ host: String, _ answer: NameLookup.Answer) {
        lookup = nil
        switch answer {
        case .addresses(let addresses) where !addresses.isEmpty:
            connect(addresses[...])
        case .addresses:
            fail("the name \(host) has no address")
        case .failed(let reason):
            fail("the name \(host) cannot be resolved: \(reason)")
        }
    }

    private func connect(_ addresses: ArraySlice<SocketAddress>) {
        phase = .tcp
        guard let address = addresses.first else {
            return fail(refusals.prefix(AddressDial.maximumRefusalsShown).joined(separator: "; "))
        }
        let stream = TCPStream(loop: loop)
        self.stream = stream
        stream.connect(to: address) { [weak self] error in
            self?.connected(error, address, rest: addresses.dropFirst())
        }
    }

    private func connected(_ error: String?, _ address: SocketAddress, rest: ArraySlice<SocketAddress>) {
        guard let stream else { return }
        self.stream = nil
        if let error {
            refusals.append("\(address): \(error)")
            connect(rest)
        } else {
            stream.disableDelay()
            stream.limitUnsent(bytes: AddressDial.mostUnsentBytes)
            completion(.success(stream))
        }
    }

    private func fail(_ error: String) {
        completion(.failure(DialFailure(phase: phase, error: error)))
    }
}
