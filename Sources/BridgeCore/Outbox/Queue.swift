/// A first-in, first-out queue that also takes an element back in front and can be looked into.
///
/// Each of these takes constant time on average. It grows by doubling, and gives half of its room back when only a
/// quarter of that is used.
package struct Queue<Element> {
    /// A ring: `count` elements from `head` on, the rest nil; a power of two, so that a mask finds the place.
    private var slots: [Element?] = []
    private var head = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// How many elements it has places for.
    var room: Int { slots.count }

    package var first: Element? { isEmpty ? nil : slots[head] }

    package var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The element `offset` places behind the first one.
    package subscript(offset: Int) -> Element {
        get {
            precondition(0..<count ~= offset)
            guard let element = slots[place(offset)] else {
                preconditionFailure("a place inside the ring holds an element")
            }
            return element
        }
        set {
            precondition(0..<count ~= offset)
            slots[place(offset)] = newValue
        }
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

    package mutating func append(_ element: Element) {
        growIfFull()
        slots[place(count)] = element
        count += 1
    }

    mutating func prepend(_ element: Element) {
        growIfFull()
        head = place(slots.count - 1)
        slots[head] = element
        count += 1
    }

    @discardableResult package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = slots[head]
        slots[head] = nil
        head = place(1)
        count -= 1
        shrinkIfSparse()
        return first
    }

    @discardableResult mutating func popLast() -> Element? {
        guard !isEmpty else { return nil }
        count -= 1
        let index = place(count)
        let last = slots[index]
        slots[index] = nil
        shrinkIfSparse()
        return last
    }

    /// All of them, first to last.
    var elements: [Element] {
        (0..<count).compactMap { slots[place($0)] }
    }

    /// Takes out the first element for which `isMeant` holds; takes as long as there are elements.
    mutating func removeFirst(where isMeant: (Element) -> Bool) -> Element? {
        var rest = Queue()
        var found: Element?
        for element in elements {
            if found == nil, isMeant(element) { found = element } else { rest.append(element) }
        }
        if found != nil { self = rest }
        return found
    }

    private func place(_ offset: Int) -> Int {
        (head + offset) & (slots.count - 1)
    }

    private mutating func growIfFull() {
        guard count == slots.count else { return }
        let ordered = slots[head...] + slots[..<head]
        slots = ordered + Array(repeating: nil, count: max(8, slots.count))
        head = 0
    }

    /// Below this many places there is nothing worth giving back.
    private static var smallestShrunk: Int { 64 }

    private mutating func shrinkIfSparse() {
        guard slots.count > Self.smallestShrunk, count <= slots.count / 4 else { return }
        var fewer = [Element?](repeating: nil, count: slots.count / 2)
        for offset in 0..<count { fewer[offset] = slots[place(offset)] }
        slots = fewer
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
