/// The encoded bytes of a feed, addressed by position: they grow at the end and go at the front.
///
/// They lie in segments that never move, so a socket can be handed a pointer into them. An append is never
/// split, so whatever is larger than a segment gets one of its own.
nonisolated struct FeedBytes: ~Copyable {
    @safe private struct Segment {
        let memory: UnsafeMutableRawBufferPointer
        /// The position of the first byte.
        let start: UInt64
        var count = 0

        var end: UInt64 { start + UInt64(count) }
        var room: Int { unsafe memory.count - count }
    }

    /// Oldest first.
    private var segments: [Segment] = []
    /// The memory that is held.
    private(set) var allocatedBytes = 0
    /// The position behind the newest byte.
    private(set) var head: UInt64 = 0

    deinit {
        for segment in segments { unsafe segment.memory.deallocate() }
    }

    /// The position behind the oldest segment, where the bytes begin after `dropFirst()`.
    var nextTail: UInt64 { segments.first?.end ?? head }
    /// The newest of them is being filled.
    var segmentCount: Int { segments.count }

    /// Adds bytes; a new segment gets room for at least `segmentBytes`.
    mutating func append(_ bytes: [UInt8], segmentBytes: Int) {
        if segments.last.map({ $0.room < bytes.count }) ?? true {
            addSegment(room: max(segmentBytes, bytes.count))
        }
        let last = segments.count - 1
        let room = unsafe UnsafeMutableRawBufferPointer(
            rebasing: segments[last].memory[segments[last].count...]
        )
        unsafe room.copyBytes(from: bytes)
        segments[last].count += bytes.count
        head += UInt64(bytes.count)
    }

    private mutating func addSegment(room: Int) {
        unsafe segments.append(Segment(memory: .allocate(byteCount: room, alignment: 64), start: head))
        allocatedBytes += room
    }

    /// Forgets the oldest segment.
    mutating func dropFirst() {
        let segment = segments.removeFirst()
        allocatedBytes -= unsafe segment.memory.count
        unsafe segment.memory.deallocate()
    }

    /// The bytes from `position`, which must be held, to the end of their segment; empty at the head.
    ///
    /// Valid until the next `append` or `dropFirst`.
    func run(from position: UInt64) -> UnsafeRawBufferPointer {
        // Nearly everyone is in the last segment.
        guard let segment = segments.last(where: { $0.start <= position }) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        let offset = Int(position - segment.start)
        return unsafe UnsafeRawBufferPointer(rebasing: segment.memory[offset..<segment.count])
    }

    /// Copies what lies between two positions that are held.
    func copy(_ range: Range<UInt64>) -> [UInt8] {
        var copied: [UInt8] = []
        copied.reserveCapacity(range.count)
        while copied.count < range.count {
            let bytes = unsafe run(from: range.lowerBound + UInt64(copied.count))
            unsafe copied.append(contentsOf: bytes.prefix(range.count - copied.count))
        }
        return copied
    }
}
