import Testing

@testable import BridgeIO

@MainActor @Suite struct `Frame marks` {
    @Test(
        arguments: [(0, nil), (4, nil), (5, 1), (9, 1), (10, 2), (29, 2), (30, 3), (99, 3)]
            as [(Int, UInt64?)]
    )
    func `tell which frames lie in so many bytes`(bytes: Int, frame: UInt64?) {
        var marks = FrameMarks()
        for end in [5, 10, 30] { marks.add(end: end) }
        #expect(marks.lastFrame(within: bytes) == frame)
        #expect(marks.lastFrame == 3)
        #expect(marks.count == 30)
    }

    @Test func `go on counting when they were taken`() {
        var marks = FrameMarks()
        marks.add(end: 7)
        #expect(marks.take().lastFrame == 1)
        #expect(marks.count == 0)
        marks.add(end: 3)
        #expect(marks.lastFrame(within: 3) == 2)
        #expect(marks.lastFrame == 2)
    }
}
