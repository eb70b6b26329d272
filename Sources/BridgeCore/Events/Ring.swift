/// A queue that is also indexed: adding at the end, taking from the front and looking inside cost O(1).
///
/// It grows by doubling and keeps its room.
struct Ring<Element> {
    /// Its size is a power of two, so that a mask finds the place.
    private var places: [Element?] = []
    private var start = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: Element? { isEmpty ? nil : self[0] }

    var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The element `offset` places behind the first one.
    subscript(offset: Int) -> Element {
        precondition(0..<count ~= offset)
        guard let element = places[(start + offset) & (places.count - 1)] else {
            preconditionFailure("a place inside the ring holds an element")
        }
        return element
    }

    mutating func append(_ element: Element) {
        if count == places.count { grow() }
        places[(start + count) & (places.count - 1)] = element
        count += 1
    }

    mutating func removeFirst() {
        precondition(count > 0)
        places[start] = nil
        start = (start + 1) & (places.count - 1)
        count -= 1
    }

    mutating func removeAll() {
        self = Ring()
    }

    /// The offset of the first element that is not `earlier`; all that are earlier stand before it.
    func partition(_ earlier: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if earlier(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(8, 2 * count))
        for offset in 0..<count { larger.append(self[offset]) }
        larger.append(contentsOf: repeatElement(nil, count: max(8, 2 * count) - count))
        places = larger
        start = 0
    }
}
