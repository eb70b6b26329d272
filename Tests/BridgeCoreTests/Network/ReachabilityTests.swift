import BridgeCore
import Testing

/// What is told a connection of the network, by what is known of the host that it dials.
@Suite struct ReachabilityTests {
    private let lost = [ConnectionMachine.Event.networkLost]
    private let restored = [ConnectionMachine.Event.networkRestored]
    private let path = SocketPath(local: .own, peer: .peer)

    /// A network in which nothing but loopback is left.
    private var nothing: NetworkDouble { NetworkDouble(.loopback) }

    @Test(
        arguments: [
            Reachability.here, Reachability(.ip4(127, 0, 0, 1)), Reachability(.ip4(127, 9, 9, 9)),
            Reachability(.ip6()), Reachability(name: "localhost"), Reachability(name: "a.LocalHost"),
        ]
    )
    func `loopback and unix sockets are always reachable`(reach: Reachability) {
        #expect(reach.news(over: nothing) == restored)
    }

    @Test func `an address is reachable as long as a route leads there`() {
        let network = NetworkDouble.home()
        let reach = Reachability(.peer)
        #expect(reach.news(over: network) == restored)
        network.routes[.peer] = nil
        #expect(reach.news(over: network) == lost)
    }

    @Test(
        arguments: [
            (RouteAnswer.none, true), (.link(2), false), (.link(3), true), (.link(0), false),
            (.link(77), false), (.local, false), (.unknown, false),
        ]
    )
    func `a route counts unless it leads into a link without a carrier`(answer: RouteAnswer, isLost: Bool) {
        let network = NetworkDouble.home()
        network.map.add(.link(3, carries: false))
        network.routes[.peer] = answer
        #expect(Reachability(.peer).news(over: network) == (isLost ? lost : restored))
    }

    // MARK: Names

    @Test func `a name that was never looked up is looked up, network or not`() {
        #expect(Reachability(name: "h").news(over: nothing) == restored)
    }

    @Test func `a name that cannot be resolved without any network is out of reach`() {
        var reach = Reachability(name: "h")
        reach.lookedUp([])
        #expect(reach.news(over: nothing) == lost)
        // With a network who knows what the resolver will say the next time.
        #expect(reach.news(over: NetworkDouble.home()) == restored)
    }

    @Test func `a name that means this machine needs no network`() {
        var reach = Reachability(name: "alias-of-localhost")
        reach.lookedUp([.ip4(127, 0, 0, 1)])
        #expect(reach.news(over: nothing) == restored)
    }

    @Test func `a name is out of reach when no route leads to any of its addresses`() {
        let network = NetworkDouble.home()
        network.routes = [.peer: .link(2)]
        var reach = Reachability(name: "h")
        reach.lookedUp([.other, .peer])
        #expect(reach.news(over: network) == restored)
        network.routes = [:]
        #expect(reach.news(over: network) == lost)
    }

    @Test func `a name may have other addresses where another default route leads`() {
        let network = NetworkDouble.home()
        var reach = Reachability(name: "h")
        reach.lookedUp([.other])
        network.routes = [.anywhere6: .link(2)]
        #expect(reach.news(over: network) == restored)
    }

    @Test func `in another place a name is looked up again`() {
        var reach = Reachability(name: "h")
        reach.lookedUp([.other])
        #expect(reach.news(over: nothing) == lost)
        reach.networkGained()
        #expect(reach.news(over: nothing) == restored)
        // And if that brings nothing, what was known before is what is known.
        reach.lookedUp([])
        let network = NetworkDouble.home()
        network.routes = [:]
        #expect(reach.news(over: network) == lost)
    }

    @Test func `an address is the same in another place`() {
        var reach = Reachability(.peer)
        reach.networkGained()
        reach.lookedUp([.other])
        #expect(reach.news(over: nothing) == lost)
    }

    // MARK: Several URLs, and none yet

    @Test func `of several hosts one suffices`() {
        let network = NetworkDouble.home()
        network.routes = [.peer: .link(2)]
        let reach = Reachability(of: [Reachability(.other), Reachability(.peer)])
        #expect(reach.news(over: network) == restored)
        network.routes = [.other: .link(2)]
        #expect(reach.news(over: network) == restored)
        network.routes = [:]
        #expect(reach.news(over: network) == lost)
    }

    @Test func `what a lookup brings is known of its own host alone`() {
        let network = NetworkDouble.home()
        network.routes = [.peer: .link(2)]
        var reach = Reachability(of: [Reachability(.other), Reachability(name: "h"), Reachability(name: "i")])
        reach.lookedUp([.other], of: 1)
        #expect(reach.news(over: nothing) == restored)
        reach.lookedUp([.other], of: 2)
        #expect(reach.news(over: nothing) == lost)
        #expect(reach.news(over: network) == lost)
        reach.lookedUp([.peer], of: 1)
        #expect(reach.news(over: network) == restored)
    }

    @Test func `in another place every name is looked up again`() {
        var reach = Reachability(of: [Reachability(name: "h"), Reachability(name: "i")])
        for number in [0, 1] { reach.lookedUp([.other], of: number) }
        #expect(reach.news(over: nothing) == lost)
        reach.networkGained()
        reach.lookedUp([], of: 0)
        #expect(reach.news(over: nothing) == restored)
    }

    @Test(arguments: [Reachability(.peer), Reachability(name: "h")])
    func `whoever is dialled next needs a network at least`(former: Reachability) {
        let elsewhere = NetworkDouble.home()
        elsewhere.routes = [:]
        var reach = former
        reach.becameUnknown()
        #expect(reach.news(over: nothing) == lost)
        #expect(reach.news(over: elsewhere) == restored)
        reach.networkGained()
        #expect(reach.news(over: nothing) == restored)
    }

    @Test func `whoever is dialled next after one on this machine may be here, too`() {
        var reach = Reachability.here
        reach.becameUnknown()
        #expect(reach.news(over: nothing) == restored)
    }

    // MARK: An open socket

    private func opened(over network: NetworkDouble) -> Reachability {
        var reach = Reachability(.peer)
        #expect(reach.opened(path, over: network) == .networkRestored)
        return reach
    }

    @Test func `a socket whose path is there is left alone`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        #expect(reach.news(over: network) == restored)
    }

    @Test func `a socket whose route is gone is lost`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        network.routes = [:]
        #expect(reach.news(over: network) == lost)
    }

    @Test func `a socket whose cable is pulled is lost, though the kernel keeps the route`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        network.map.add(.link(2, carries: false))
        #expect(reach.news(over: network) == lost)
    }

    @Test func `a socket whose own address is gone is lost, and dialled anew from another`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        network.map = NetworkDouble(.loopback, .link(2, carries: true), .address(.other, on: 2)).map
        #expect(reach.news(over: network) == lost + restored)
    }

    @Test func `a socket whose own address is on a dead link is lost, though another link leads there`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        network.map.add(.link(2, carries: false))
        network.map.add(.link(3, carries: true))
        network.routes[.peer] = .link(3)
        #expect(reach.news(over: network) == lost + restored)
    }

    @Test func `an own address that no link has may be the machine's by a route`() {
        let network = NetworkDouble.home()
        network.map = NetworkDouble(.loopback, .link(2, carries: true)).map
        network.routes[.own] = .local
        let reach = opened(over: network)
        #expect(reach.news(over: network) == restored)
        network.routes[.own] = .link(2)
        #expect(reach.news(over: network) == lost + restored)
    }

    @Test func `a rule for packets from the own address decides over its socket`() {
        let network = NetworkDouble.home()
        let reach = opened(over: network)
        network.routesFrom[.own] = RouteAnswer.none
        #expect(reach.news(over: network) == lost + restored)
    }

    @Test func `two addresses of one machine need no link`() {
        let network = NetworkDouble.home()
        network.routes[.peer] = .local
        let reach = opened(over: network)
        network.map.add(.link(2, carries: false))
        #expect(reach.news(over: network) == restored)
    }

    @Test func `a socket to loopback is never lost`() {
        var reach = Reachability(name: "h")
        let loopback = NetworkAddress.ip4(127, 0, 0, 1)
        _ = reach.opened(SocketPath(local: loopback, peer: loopback), over: nothing)
        #expect(reach.news(over: nothing) == restored)
    }

    @Test func `a socket that opened against all appearances is left to its heartbeat`() {
        let reach = opened(over: nothing)
        #expect(reach.news(over: nothing).isEmpty)
    }

    @Test func `an open socket is looked at as before while others are to be dialled`() {
        let network = NetworkDouble.home()
        var seen = opened(over: network)
        seen.turn(to: Reachability(.other))
        // Nothing leads there, which is nothing to the socket that is open.
        #expect(seen.news(over: network) == restored)
        network.routes[.other] = .link(2)
        network.routes[.peer] = nil
        #expect(seen.news(over: network) == lost + restored)
        var unseen = opened(over: nothing)
        unseen.turn(to: Reachability(.other))
        #expect(unseen.news(over: nothing).isEmpty)
        unseen.closed()
        #expect(unseen.news(over: nothing) == lost)
    }

    @Test func `once a socket is gone the host counts again`() {
        var reach = opened(over: nothing)
        reach.closed()
        #expect(reach.news(over: nothing) == lost)
    }
}
