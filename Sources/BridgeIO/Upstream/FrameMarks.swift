/// Where the frames of a buffer end in it.
struct FrameMarks {
    private var firstFrame: UInt64 = 1
    private var ends: [Int] = []

    /// The bytes of all frames.
    var count: Int { ends.last ?? 0 }

    /// The number of the newest frame.
    var lastFrame: UInt64 { firstFrame + UInt64(ends.count) - 1 }

    /// A frame was added to the buffer, which now has so many bytes.
    mutating func add(end: Int) {
        ends.append(end)
    }

    /// The newest frame that lies wholly in the first `bytes` bytes; nil if none does.
    func lastFrame(within bytes: Int) -> UInt64? {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= bytes { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : firstFrame + UInt64(low) - 1
    }

    /// Forgets all frames, which were taken; the next one has the next number.
    mutating func take() -> FrameMarks {
        let taken = self
        firstFrame += UInt64(ends.count)
        ends.removeAll(keepingCapacity: true)
        return taken
    }
}
