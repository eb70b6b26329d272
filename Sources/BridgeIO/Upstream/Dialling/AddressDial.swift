internal import BridgeCore

/// One attempt at a TCP connection to a host: resolves a name anew and races its addresses.
///
/// Letting go of it gives the attempt up; nothing is reported afterwards.
final class AddressDial {
    /// A connection that is not read yet, or why there is none.
    typealias Outcome = Result<SocketStream, DialFailure>

    /// Where it stands: resolving or connecting.
    private(set) var phase: DialPhase = .dns

    private let loop: Loop
    private let completion: (Outcome) -> Void
    private var lookup: NameLookup?
    /// What is dialled; empty before the name is resolved.
    private(set) var addresses: [SocketAddress] = []
    private var race = AddressRace(count: 0)
    /// Those that are dialled, by their place in `addresses`.
    private var streams: [Int: SocketStream] = [:]
    private var timer: LoopTimer?

    /// Keeps a fast line busy until the next turn of the loop, and a ping from waiting behind megabytes.
    private static let mostUnsentBytes: CInt = 128 * 1024
    /// Longer than the usual interval of heartbeats, which then keep the kernel from probing.
    ///
    /// Without heartbeats its probes are all that finds out about a peer that is gone.
    private static let secondsBeforeProbes: CUnsignedInt = 60

    /// Begins to dial; `completion` is called once, on a later turn.
    init(loop: Loop, destination: Destination, completion: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.completion = completion
        let host = destination.host
        if let address = SocketAddress(literal: host, port: destination.port) {
            start([address])
        } else {
            lookup = loop.resolve(host: host, port: destination.port) { [weak self] answer in
                guard let self else { return }
                lookup = nil
                do throws(DialFailure) {
                    start(try answer.addresses(of: host))
                } catch {
                    completion(.failure(error))
                }
            }
        }
    }

    /// What became of the addresses so far; nil before the first was dialled.
    var account: String? {
        phase == .tcp ? race.account { addresses[$0].description } : nil
    }

    private func start(_ found: [SocketAddress]) {
        phase = .tcp
        addresses = AddressRace.order(found, isIPv6: \.isIPv6)
        race = AddressRace(count: addresses.count)
        tell(.started)
    }

    private func tell(_ event: AddressRace.Event) {
        for action in race.handle(event) {
            switch action {
            case .dial(let index): dial(index)
            case .startTimer(let index, let delay):
                timer = loop.startTimer(after: delay) { [weak self] in self?.tell(.turnCame(index)) }
            case .won(let index): win(index)
            case .lost:
                timer = nil
                completion(.failure(DialFailure(phase: .tcp, error: account ?? "there is no address")))
            }
        }
    }

    private func dial(_ index: Int) {
        let stream = SocketStream(loop: loop)
        streams[index] = stream
        stream.connect(to: addresses[index]) { [weak self] error in
            guard let self else { return }
            if let error {
                streams[index] = nil
                tell(.failed(index, error: error))
            } else {
                tell(.connected(index))
            }
        }
    }

    private func win(_ index: Int) {
        timer = nil
        guard let stream = streams.removeValue(forKey: index) else { return }
        streams = [:]
        stream.disableDelay()
        stream.limitUnsent(bytes: AddressDial.mostUnsentBytes)
        stream.probePeer(after: AddressDial.secondsBeforeProbes)
        completion(.success(stream))
    }
}

extension NameLookup.Answer {
    /// At least one address, or the failure to find any.
    func addresses(of host: String) throws(DialFailure) -> [SocketAddress] {
        switch self {
        case .addresses(let addresses) where !addresses.isEmpty: return addresses
        case .addresses: throw DialFailure(phase: .dns, error: "the name \(host) has no address")
        case .failed(let reason):
            throw DialFailure(phase: .dns, error: "the name \(host) cannot be resolved: \(reason)")
        }
    }
}
