import BridgeCore
import Testing

@Suite struct NetworkMapTests {
    private func map(_ messages: NetlinkMessage...) -> NetworkMap {
        var map = NetworkMap()
        for message in messages { map.add(message) }
        return map
    }

    private let home = NetworkDouble.home().map

    @Test(
        arguments: [
            (UInt32(0x1043), true), (0x1003, false), (0x1042, false), (0x1002, false), (0x49, true),
        ]
    )
    func `a link carries when it is up and running`(flags: UInt32, carries: Bool) {
        #expect(map(.link(NetworkLink(index: 7, flags: flags))).carries(7) == carries)
    }

    @Test func `of a link that is not listed nothing is known`() {
        #expect(home.carries(99) == nil)
        #expect(home.carries(NetworkAddress.peer) == nil)
    }

    @Test func `an address is reached over any link that has it and carries`() {
        var map = map(.link(2, carries: false), .link(3, carries: false))
        map.add(.address(.own, on: 2))
        map.add(.address(.own, on: 3))
        #expect(map.carries(.own) == false)
        map.add(.link(3, carries: true))
        #expect(map.carries(.own) == true)
    }

    @Test func `loopback is no network, and neither is what a link gives itself`() {
        let linkLocal = NetworkAddress.ip6(0xFE, 0x80, link: 2)
        #expect(!map(.loopback, .address(.ip4(127, 0, 0, 1), on: 1)).hasNetwork)
        #expect(!map(.loopback, .link(2, carries: true), .address(linkLocal, on: 2)).hasNetwork)
        #expect(!map(.loopback, .link(2, carries: false), .address(.own, on: 2)).hasNetwork)
        #expect(home.hasNetwork)
    }

    @Test func `a new address is a gain, and so is a carrier; a loss is none`() {
        let unplugged = map(.loopback, .link(2, carries: false), .address(.own, on: 2))
        #expect(home.gains(over: unplugged))
        #expect(!unplugged.gains(over: home))
        #expect(!home.gains(over: home))
        var more = home
        more.add(.address(.other, on: 2))
        #expect(more.gains(over: home))
    }

    @Test func `an IPv4 address in IPv6 is one of IPv4, and a link counts for link-local ones alone`() {
        let mapped = NetworkAddress([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1], link: 5)
        #expect(mapped == .own)
        #expect(NetworkAddress.ip6(0x20, link: 5) == .ip6(0x20))
        #expect(NetworkAddress.ip6(0xFE, 0x80, link: 5) != .ip6(0xFE, 0x80, link: 6))
        #expect(NetworkAddress([1, 2, 3]) == nil)
        #expect(NetworkAddress.ip6().isLoopback)
        #expect(!NetworkAddress.ip6(1).isLoopback)
    }
}
