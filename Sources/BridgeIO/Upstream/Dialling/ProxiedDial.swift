internal import BridgeCore

/// One attempt at a way through a proxy.
///
/// With `socks5` the upstream's name is resolved first, and if the proxy cannot reach one of its addresses the next one is
/// asked for, on a new connection. Letting go of it gives the attempt up; nothing is reported afterwards.
final class ProxiedDial {
    private enum Step {
        /// Becomes connecting.
        case idle
        /// The upstream's name; becomes connecting.
        case resolving(NameLookup)
        /// To the proxy; becomes talking.
        case connecting(AddressDial)
        /// Becomes connecting, with the next address.
        case talking(Tunnel)
    }

    private let loop: Loop
    private let proxy: ProxyURL
    private let completion: (UpstreamDial.Outcome) -> Void
    private var step = Step.idle
    /// What the proxy is still to be asked for, in order.
    private var destinations: ArraySlice<Destination>
    private var refusals: [String] = []
    private var dialled: [SocketAddress] = []

    /// Each costs a connection to the proxy.
    private static let mostAddresses = 4

    /// Begins to dial; `completion` is called once, on a later turn.
    init(
        loop: Loop,
        destination: Destination,
        proxy: ProxyURL,
        completion: @escaping (UpstreamDial.Outcome) -> Void
    ) {
        self.loop = loop
        self.proxy = proxy
        self.completion = completion
        destinations = [destination]
        if proxy.kind == .socks5, SocketAddress(literal: destination.host, port: destination.port) == nil {
            let lookup = loop.resolve(host: destination.host, port: destination.port) { [weak self] answer in
                self?.resolved(destination.host, answer)
            }
            step = .resolving(lookup)
        } else {
            connect()
        }
    }

    var phase: DialPhase {
        switch step {
        case .idle, .resolving: .dns
        case .connecting(let dial): dial.phase
        case .talking: .proxy
        }
    }

    /// The proxy's addresses, as far as they are known.
    var addresses: [SocketAddress] {
        if case .connecting(let dial) = step { dial.addresses } else { dialled }
    }

    /// What became of the proxy's addresses so far.
    var account: String? {
        guard case .connecting(let dial) = step, let account = dial.account else { return nil }
        return "the proxy \(proxy.redacted): \(account)"
    }

    private func resolved(_ host: String, _ answer: NameLookup.Answer) {
        do throws(DialFailure) {
            let addresses = AddressRace.order(try answer.addresses(of: host), isIPv6: \.isIPv6)
            destinations =
                addresses.prefix(ProxiedDial.mostAddresses).map {
                    Destination(host: $0.host, port: $0.port)
                }[...]
            connect()
        } catch {
            completion(.failure(error))
        }
    }

    private func connect() {
        let address = Destination(host: proxy.host, port: proxy.port)
        let dial = AddressDial(loop: loop, destination: address) { [weak self] in self?.connected($0) }
        step = .connecting(dial)
    }

    private func connected(_ outcome: AddressDial.Outcome) {
        dialled = addresses
        switch outcome {
        case .failure(var failure):
            failure.error = "the proxy \(proxy.redacted): \(failure.error)"
            completion(.failure(failure))
        case .success(let stream):
            guard let destination = destinations.popFirst() else { return }
            do throws(TLSFailure) {
                let tunnel = Tunnel(stream, tls: try tlsSession(), proxy: proxy, to: destination)
                step = .talking(tunnel)
                tunnel.start { [weak self] in self?.talked($0, about: destination) }
            } catch {
                completion(.failure(DialFailure(ProxyRefusal(error.error), by: proxy, at: loop.wallTime)))
            }
        }
    }

    private func talked(_ outcome: Tunnel.Outcome, about destination: Destination) {
        switch outcome {
        case .success(let arrival):
            completion(.success(arrival))
        case .failure(let refusal) where refusal.concernsAddress && !destinations.isEmpty:
            refusals.append("\(destination.host): it \(refusal.text)")
            connect()
        case .failure(let refusal):
            var failure = DialFailure(refusal, by: proxy, at: loop.wallTime)
            if !refusals.isEmpty {
                let last = "\(destination.host): it \(refusal.text)"
                failure.error = "the proxy \(proxy.redacted): " + (refusals + [last]).joined(separator: "; ")
            }
            completion(.failure(failure))
        }
    }

    /// A proxy's certificate is judged by the system's authorities: `tls` speaks of the upstream.
    private func tlsSession() throws(TLSFailure) -> TLSSession? {
        guard proxy.kind == .https else { return nil }
        let context = try TLSContext.shared(for: TLSSettings())
        return try TLSSession(context: context, host: proxy.host, peer: "the proxy")
    }
}
