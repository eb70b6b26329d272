import Testing

@testable import WebSocketProtocol

@Suite struct `Bytes that were promised` {
    private static let chunk = 64 << 10

    /// Takes in so many of `total` bytes, in chunks.
    private func receive(_ count: Int, of total: Int, least: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let next = min(Self.chunk, total - bytes.count)
            bytes.makeRoom(for: next, of: total, least: least)
            bytes.append(contentsOf: repeatElement(0x2A, count: next))
        }
        return bytes
    }

    private func address(_ bytes: [UInt8]) -> UInt {
        unsafe bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    @Test(arguments: [1, 300, 100_000, 1 << 20, (1 << 20) + 1, 10_000_000, 16 << 20])
    func `are kept where they came once all are there`(total: Int) {
        var bytes = receive(total, of: total)
        let before = address(bytes)
        bytes.giveBackSpareRoom()
        #expect(address(bytes) == before)
        #expect(bytes.count == total)
    }

    @Test(arguments: [1, 1 << 16, 1 << 20, 5_000_000])
    func `take no more than twice of what has come`(count: Int) {
        let bytes = receive(count, of: 1 << 30)
        // The allocator rounds up a little.
        #expect(bytes.capacity <= 2 * max(count, Self.chunk) + 8192)
    }

    @Test func `are worth a little memory before they come`() {
        let bytes = receive(1, of: 1 << 30, least: 1 << 20)
        #expect((1 << 20)...((1 << 20) + 8192) ~= bytes.capacity)
    }

    @Test func `may be fewer than come`() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.makeRoom(for: 1000, of: 2)
        bytes.append(contentsOf: repeatElement(4, count: 1000))
        #expect(bytes.count == 1003)
    }
}
