import BridgeCore
import Testing
import WebSocketTestSupport

/// The kernel's messages, from bytes as `strace` shows them on a little-endian machine, and questions to it.
@Suite struct NetlinkTests {
    private func messages(_ bytes: [UInt8]) -> [NetlinkMessage] {
        var reader = NetlinkReader(bytes)
        var found: [NetlinkMessage] = []
        while let (_, message) = reader.next() { found.append(message) }
        return found
    }

    private func native(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> ($0 * 8)) }
    }

    private func message(_ kind: UInt16, _ content: [UInt8], sequence: UInt32 = 9) -> [UInt8] {
        let length = UInt32(16 + content.count)
        return native(length) + native(kind) + [2, 0] + native(sequence) + [0, 0, 0, 0] + content
    }

    private func attribute(_ kind: UInt16, _ content: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
        return native(UInt16(4 + content.count)) + native(kind) + content + padding
    }

    private func link(_ index: UInt32, flags: UInt32) -> [UInt8] {
        let content = [0, 0, 1, 0] + native(index) + native(flags) + [0, 0, 0, 0]
        return message(16, content + attribute(3, Array("eth0".utf8) + [0]))
    }

    private func address(flags: UInt8 = 0x80, _ attributes: [UInt8]) -> [UInt8] {
        message(20, [2, 24, flags, 0] + native(UInt32(2)) + attributes)
    }

    private func route(type: UInt8, _ attributes: [UInt8] = []) -> [UInt8] {
        message(24, [2, 32, 0, 0, 254, 0, 0, type, 0, 2, 0, 0] + attributes)
    }

    @Test func `a link has its index and flags`() {
        let expected = NetlinkMessage.link(NetworkLink(index: 300, flags: 0x11043))
        #expect(messages(link(300, flags: 0x11043)) == [expected])
    }

    @Test func `an address is the link's own, also where it has a peer`() {
        let plain = address(attribute(1, [10, 0, 0, 1]))
        let pointToPoint = address(attribute(1, [10, 0, 0, 2]) + attribute(2, [10, 0, 0, 1]))
        #expect(messages(plain + pointToPoint) == [.address(.own, on: 2), .address(.own, on: 2)])
    }

    @Test(arguments: [(UInt8(0x80), true), (0x40, false), (0xC0, false), (0x44, true), (0x08, false)])
    func `an address that others may have does not count yet`(flags: UInt8, counts: Bool) {
        let expected: NetlinkMessage = counts ? .address(.own, on: 2) : .other
        #expect(messages(address(flags: flags, attribute(1, [10, 0, 0, 1]))) == [expected])
    }

    @Test(
        arguments: [
            (UInt8(1), RouteAnswer.link(5)), (2, .local), (3, .link(5)), (4, .link(5)), (5, .link(5)),
            (6, .none),
            (7, .none), (8, .none), (9, .none), (10, .unknown), (0, .unknown), (255, .unknown),
        ]
    )
    func `a route is what its type says`(type: UInt8, answer: RouteAnswer) {
        let attributes = attribute(1, [10, 0, 0, 2]) + attribute(4, native(UInt32(5)))
        #expect(messages(route(type: type, attributes)) == [.route(answer)])
    }

    @Test func `a route without a link may lead anywhere`() {
        #expect(messages(route(type: 1)) == [.route(.link(0))])
        #expect(messages(route(type: 1, attribute(4, [1]))) == [.route(.link(0))])
    }

    @Test func `a refusal has its errno, and a list its end`() {
        let refusal = message(2, native(Int32(-101)) + [UInt8](repeating: 0, count: 16))
        #expect(messages(refusal) == [.refused(errno: 101)])
        #expect(messages(message(3, [0, 0, 0, 0])) == [.done])
        #expect(messages(message(2, native(Int32.min))) == [.refused(errno: .min)])
    }

    @Test func `several messages in a datagram are read one by one, each with its sequence number`() {
        var reader = NetlinkReader(message(3, [1], sequence: 7) + [0, 0, 0] + message(3, [], sequence: 8))
        #expect(reader.next()?.sequence == 7)
        #expect(reader.next()?.sequence == 8)
        #expect(reader.next() == nil)
    }

    @Test(
        arguments: [
            [], [1], [16, 0, 0, 0], [15, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] as [[UInt8]]
    )
    func `what is no message ends the reading`(bytes: [UInt8]) {
        #expect(messages(bytes).isEmpty)
        #expect(messages([255, 255, 255, 255] + [UInt8](repeating: 0, count: 12)).isEmpty)
    }

    @Test func `messages that are cut short anywhere neither trap nor tell what is not there`() {
        let whole = [
            link(3, flags: 1), address(attribute(2, [10, 0, 0, 1])),
            route(type: 1, attribute(4, [1, 0, 0, 0])),
            message(2, [1, 0, 0, 0]),
        ]
        for bytes in whole {
            for count in 16..<bytes.count {
                // The length tells the truth about what is left.
                let cut = native(UInt32(count)) + bytes[4..<count]
                #expect(messages(cut).count == 1)
                #expect(messages(Array(bytes.prefix(count))).isEmpty)
            }
        }
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `bytes at random do no harm`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = (link(3, flags: 1) + address(attribute(2, [10, 0, 0, 1])) + route(type: 1))
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        #expect(messages(bytes).count <= bytes.count / 16)
    }

    // MARK: Questions

    @Test func `all links and all addresses are asked for as a list`() {
        let links = NetlinkRequest.links.bytes(sequence: 0x0102_0304)
        #expect(links == native(UInt32(32)) + [18, 0, 1, 3, 4, 3, 2, 1] + [UInt8](repeating: 0, count: 20))
        let addresses = NetlinkRequest.addresses.bytes(sequence: 1)
        #expect(Array(addresses.prefix(8)) == native(UInt32(24)) + [22, 0, 1, 3])
        #expect(addresses.count == 24)
    }

    @Test func `the way to an address is asked for with the address from which`() {
        let bytes = NetlinkRequest.route(to: .peer, from: .own).bytes(sequence: 1)
        let expected: [UInt8] =
            [2, 32, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0] + attribute(1, [10, 0, 0, 2])
            + attribute(2, [10, 0, 0, 1])
        #expect(Array(bytes[16...]) == expected)
        #expect(Array(bytes.prefix(8)) == native(UInt32(bytes.count)) + [26, 0, 1, 0])
    }

    @Test func `a link-local address is asked for on its link, and never from one of the other family`() {
        let bytes = NetlinkRequest.route(to: .ip6(0xFE, 0x80, link: 7), from: .own).bytes(sequence: 1)
        #expect(Array(bytes[16..<20]) == [10, 128, 0, 0])
        #expect(Array(bytes.suffix(8)) == attribute(4, [7, 0, 0, 0]))
    }
}
