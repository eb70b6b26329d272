import BridgeCore
import Testing

@Suite struct `Room for bodies that arrive` {
    private let free = BodyRoom.free

    @Test func `is shared by all`() {
        var room = BodyRoom(limit: 10_000)
        var places = (BodyRoom.Place(), BodyRoom.Place())
        let (first, second) = (
            room.take(free + 6_000, for: &places.0), room.take(free + 4_000, for: &places.1)
        )
        #expect(first && second)
        #expect(room.used == 10_000)
        for isRefused in [room.take(1, for: &places.0), room.take(1, for: &places.1)] { #expect(!isRefused) }
        room.free(&places.0)
        #expect(room.used == 4_000)
        let isTaken = room.take(6_000, for: &places.1)
        #expect(isTaken)
    }

    @Test func `is there for a little of each, whatever the others have`() {
        var room = BodyRoom(limit: 10)
        var large = BodyRoom.Place()
        #expect(room.take(1 << 30, for: &large) == true)
        var small = BodyRoom.Place()
        let verdicts = [free - 1, 1, 1].map { room.take($0, for: &small) }
        #expect(verdicts == [true, true, false])
        // What was refused is not counted.
        room.free(&large)
        #expect(room.used == 0)
        let isTaken = room.take(1 << 20, for: &small)
        #expect(isTaken)
    }

    @Test func `is all there again in the end, however it was taken`() {
        var generator = SystemRandomNumberGenerator()
        var room = BodyRoom(limit: 1 << 20)
        var places = [BodyRoom.Place](repeating: BodyRoom.Place(), count: 16)
        for _ in 0..<10_000 {
            let place = Int.random(in: 0..<16, using: &generator)
            if Int.random(in: 0..<8, using: &generator) == 0 {
                room.free(&places[place])
            } else {
                _ = room.take(Int.random(in: 0..<100_000, using: &generator), for: &places[place])
            }
            #expect(room.used >= 0)
        }
        for place in places.indices { room.free(&places[place]) }
        #expect(room.used == 0)
    }
}
