/// The places of a cursor by what comes next at each of them, the least key first.
struct PlaceHeap {
    typealias Entry = (key: UInt64, place: Int)

    /// No entry's key is less than that of its parent, at half the index.
    private var entries: [Entry]

    init(_ entries: [Entry]) {
        // What is sorted is a heap.
        self.entries = entries.sorted { $0.key < $1.key }
    }

    var first: Entry? { entries.first }

    /// Gives the first place another key, or takes it out.
    mutating func replaceFirst(key: UInt64?) {
        if let key {
            entries[0].key = key
        } else {
            entries.swapAt(0, entries.count - 1)
            entries.removeLast()
        }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { return }
            if child + 1 < entries.count, entries[child + 1].key < entries[child].key { child += 1 }
            guard entries[child].key < entries[parent].key else { return }
            entries.swapAt(parent, child)
            parent = child
        }
    }
}
