import Testing

@testable import BridgeCore

@Suite struct `The room of a queue` {
    @Test func `is given back when little of it is used, and the order stays`() {
        var queue = Queue<Int>()
        for number in 0..<10_000 { queue.append(number) }
        let most = queue.room
        while queue.count > 100 { queue.popFirst() }
        #expect(queue.room <= 4 * queue.count)
        #expect(queue.room < most)
        #expect(queue.elements == Array(9900..<10_000))
        queue.prepend(9899)
        while queue.count > 10 { _ = queue.popLast() }
        #expect(queue.elements == Array(9899..<9909))
    }

    @Test func `is not taken and given back in turn`() {
        var queue = Queue<Int>()
        for number in 0..<1024 { queue.append(number) }
        while queue.count > 300 { queue.popFirst() }
        let room = queue.room
        for number in 0..<400 {
            queue.append(number)
            queue.popFirst()
        }
        #expect(queue.room == room)
    }
}
