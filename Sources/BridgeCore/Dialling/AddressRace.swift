/// Which of a name's addresses to dial when, until one connects: "happy eyeballs" (RFC 8305).
///
/// Addresses are known by their place in `order`'s list. The next one is dialled 250 ms after the last, or as soon as
/// one fails; the first that connects wins. Feed it what happened and carry out the actions in order.
package struct AddressRace: Sendable {
    /// What has happened.
    package enum Event: Equatable, Sendable {
        case started
        case connected(Int)
        case failed(Int, error: String)
        /// The head start of the one before this address is over.
        case turnCame(Int)
    }

    /// What is to be done about it.
    package enum Action: Equatable, Sendable {
        /// Dial this address and report `connected` or `failed`.
        case dial(Int)
        /// Report `turnCame` with this address after so long, and forget about the timer before it.
        case startTimer(for: Int, after: Duration)
        /// This address is the connection; let go of the other dials and of the timer.
        case won(Int)
        /// All failed; `account` tells how.
        case lost
    }

    private enum Entrant: Equatable, Sendable {
        case waiting
        case dialling
        case failed(error: String)
    }

    private var entrants: [Entrant]
    private var isOver = false

    /// A race of so many addresses, at least one.
    package init(count: Int) {
        entrants = Array(repeating: .waiting, count: count)
    }

    /// How long an address is alone with its chance (RFC 8305 §5, "Connection Attempt Delay").
    package static let headStart = Duration.milliseconds(250)
    /// A name server can name any number; of more than this the last are left out.
    package static let mostAddresses = 16

    /// The order in which addresses are dialled (RFC 8305 §4): that of the system, but with the families in turn, so that
    /// one which is broken costs one head start.
    package static func order<Address>(_ addresses: [Address], isIPv6: (Address) -> Bool) -> [Address] {
        guard let first = addresses.first else { return [] }
        let preferred = isIPv6(first)
        var families = (
            addresses.filter { isIPv6($0) == preferred }[...],
            addresses.filter { isIPv6($0) != preferred }[...]
        )
        var order: [Address] = []
        while order.count < min(addresses.count, mostAddresses) {
            if let address = families.0.popFirst() { order.append(address) }
            if let address = families.1.popFirst() { order.append(address) }
        }
        return Array(order.prefix(mostAddresses))
    }

    package mutating func handle(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        switch event {
        case .started:
            return dialNext()
        case .turnCame(let address):
            // Its turn may have come early, because another failed.
            return address == next ? dialNext() : []
        case .connected(let address):
            isOver = true
            return [.won(address)]
        case .failed(let address, let error):
            entrants[address] = .failed(error: error)
            return dialNext()
        }
    }

    private var next: Int? { entrants.firstIndex(of: .waiting) }

    private mutating func dialNext() -> [Action] {
        guard let address = next else {
            guard !entrants.contains(.dialling) else { return [] }
            isOver = true
            return [.lost]
        }
        entrants[address] = .dialling
        guard let following = next else { return [.dial(address)] }
        return [.dial(address), .startTimer(for: following, after: AddressRace.headStart)]
    }
}

extension AddressRace {
    private static let mostTold = 4

    /// What became of the addresses that were dialled, for an error: in order, at most four of them.
    ///
    /// `name` tells an address.
    package func account(_ name: (Int) -> String) -> String {
        let tries = entrants.indices.compactMap { index -> String? in
            switch entrants[index] {
            case .waiting: nil
            case .dialling: "\(name(index)): no answer"
            case .failed(let error): "\(name(index)): \(error)"
            }
        }
        let more = tries.count - AddressRace.mostTold
        return tries.prefix(AddressRace.mostTold).joined(separator: "; ")
            + (more > 0 ? "; and \(more) more" : "")
    }
}
