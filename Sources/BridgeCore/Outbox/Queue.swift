/// A first-in, first-out queue that can also take an element back in front, in constant time each.
struct Queue<Element> {
    /// A ring: `count` elements from `head` on, the rest nil.
    private var slots: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: Element? { count > 0 ? slots[head] : nil }

    mutating func append(_ element: Element) {
        growIfFull()
        slots[(head + count) % slots.count] = element
        count += 1
    }

    mutating func prepend(_ element: Element) {
        growIfFull()
        head = (head + slots.count - 1) % slots.count
        slots[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            slots[head] = nil
            head = (head + 1) % slots.count
            count -= 1
        }
        return slots[head]
    }

    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        let index = (head + count) % slots.count
        defer { slots[index] = nil }
        return slots[index]
    }

    /// All of them, first to last.
    var elements: [Element] {
        (0..<count).compactMap { slots[(head + $0) % slots.count] }
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

    private mutating func growIfFull() {
        guard count == slots.count else { return }
        let ordered = slots[head...] + slots[..<head]
        slots = ordered + Array(repeating: nil, count: max(8, slots.count))
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
