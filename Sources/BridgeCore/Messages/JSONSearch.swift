/// Finds the values at some places of a JSON document in one pass over its bytes, without building a tree.
///
/// The document must be JSON as a whole (RFC 8259): one that breaks off after the values holds none of them. It
/// must not be nested more than 512 deep. Of members with the same name the last one counts, as for most readers.
struct JSONSearch: Equatable, Sendable {
    /// A step of some pointers; those that share their first steps share the nodes.
    fileprivate struct Node: Equatable, Sendable {
        let name: [UInt8]
        let index: Int?
        /// Always in front of it; -1: it is the document.
        let parent: Int
        var children: [Int] = []
        /// The children again, for where they are too many to look at each.
        var byName: [[UInt8]: Int] = [:]
        var byIndex: [Int: Int] = [:]
        /// The pointers that end here, by their number.
        var places: [Int] = []
    }

    static let deepest = 512

    /// How many pointers are looked for.
    let count: Int
    /// The first one is the document.
    fileprivate var nodes = [Node(name: [], index: nil, parent: -1)]

    init(_ pointers: [JSONPointer]) {
        count = pointers.count
        for (place, pointer) in pointers.enumerated() { add(pointer, place) }
    }

    /// Looks for a value and for all that it stands in, from the document down.
    init(along pointer: JSONPointer) {
        count = pointer.steps.count + 1
        nodes[0].places.append(0)
        var node = 0
        for (depth, step) in pointer.steps.enumerated() {
            node = addNode(step, below: node)
            nodes[node].places.append(depth + 1)
        }
    }

    private mutating func add(_ pointer: JSONPointer, _ place: Int) {
        var node = 0
        for step in pointer.steps { node = nodes[node].byName[step] ?? addNode(step, below: node) }
        nodes[node].places.append(place)
    }

    private mutating func addNode(_ step: [UInt8], below parent: Int) -> Int {
        let node = Node(name: step, index: JSONPointer.index(step), parent: parent)
        let number = nodes.count
        nodes.append(node)
        nodes[parent].children.append(number)
        nodes[parent].byName[step] = number
        if let index = node.index { nodes[parent].byIndex[index] = number }
        return number
    }

    /// Where in the document the values stand, in the order of the pointers; nil where there is none.
    ///
    /// Strings keep their quotes. Nil if the bytes are not JSON.
    func values(in document: Span<UInt8>) -> [Range<Int>?]? {
        var walk = JSONWalk(self)
        return walk.isDocument(document) ? walk.valid : nil
    }

    /// Whether the bytes are JSON at all.
    static func isJSON(_ document: Span<UInt8>) -> Bool {
        nothing.values(in: document) != nil
    }

    private static let nothing = JSONSearch([])
}

/// One pass over a document.
private struct JSONWalk {
    private let nodes: [JSONSearch.Node]
    private var found: [Range<Int>?]
    /// Where the value of each node begins that came last as a member: what stands in front of it is void.
    private var begins: [Int]
    private var hasRepeats = false
    private var at = 0
    /// Below here nothing is looked for.
    private static let nowhere = -1
    /// So many children are looked at one by one, which is quicker than to look one up.
    private static let few = 8

    init(_ search: JSONSearch) {
        nodes = search.nodes
        found = Array(repeating: nil, count: search.count)
        begins = Array(repeating: 0, count: nodes.count)
    }

    /// What was found, but for what a later member of the same name has made void.
    var valid: [Range<Int>?] {
        guard hasRepeats else { return found }
        var found = found
        var begins = begins
        for (number, node) in nodes.enumerated() where node.parent >= 0 {
            begins[number] = max(begins[number], begins[node.parent])
            for place in node.places {
                if let range = found[place], range.lowerBound < begins[number] { found[place] = nil }
            }
        }
        return found
    }

    mutating func isDocument(_ bytes: Span<UInt8>) -> Bool {
        let root = found.isEmpty ? JSONWalk.nowhere : 0
        guard isValue(bytes, root, depth: 0) else { return false }
        skipSpace(bytes)
        return at == bytes.count
    }

    private mutating func isValue(_ bytes: Span<UInt8>, _ node: Int, depth: Int) -> Bool {
        skipSpace(bytes)
        guard at < bytes.count else { return false }
        let start = at
        let isRight =
            switch bytes[at] {
            case UInt8(ascii: "\""): isString(bytes)
            case UInt8(ascii: "{"): isObject(bytes, node, depth: depth + 1)
            case UInt8(ascii: "["): isArray(bytes, node, depth: depth + 1)
            case UInt8(ascii: "t"): isWord(bytes, 1, "r", "u", "e")
            case UInt8(ascii: "f"):
                bytes.count > at + 1 && bytes[at + 1] == UInt8(ascii: "a") && isWord(bytes, 2, "l", "s", "e")
            case UInt8(ascii: "n"): isWord(bytes, 1, "u", "l", "l")
            case _: isNumber(bytes)
            }
        guard isRight else { return false }
        if node != JSONWalk.nowhere { for place in nodes[node].places { found[place] = start..<at } }
        return true
    }

    private mutating func isObject(_ bytes: Span<UInt8>, _ node: Int, depth: Int) -> Bool {
        guard depth <= JSONSearch.deepest else { return false }
        at += 1
        if skip(UInt8(ascii: "}"), bytes) { return true }
        repeat {
            skipSpace(bytes)
            let start = at
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\""), isString(bytes) else { return false }
            let child = member(of: node, bytes.extracting((start + 1)..<(at - 1)))
            guard skip(UInt8(ascii: ":"), bytes), isValue(bytes, child, depth: depth) else { return false }
        } while skip(UInt8(ascii: ","), bytes)
        return skip(UInt8(ascii: "}"), bytes)
    }

    private mutating func isArray(_ bytes: Span<UInt8>, _ node: Int, depth: Int) -> Bool {
        guard depth <= JSONSearch.deepest else { return false }
        at += 1
        if skip(UInt8(ascii: "]"), bytes) { return true }
        var index = 0
        repeat {
            guard isValue(bytes, element(of: node, index), depth: depth) else { return false }
            index += 1
        } while skip(UInt8(ascii: ","), bytes)
        return skip(UInt8(ascii: "]"), bytes)
    }

    /// The node of a member whose name has just ended.
    private mutating func member(of node: Int, _ name: Span<UInt8>) -> Int {
        guard node != JSONWalk.nowhere, let child = child(of: node, name) else { return JSONWalk.nowhere }
        if begins[child] > 0 { hasRepeats = true }
        begins[child] = at
        return child
    }

    private func child(of node: Int, _ name: Span<UInt8>) -> Int? {
        guard nodes[node].children.count > JSONWalk.few else {
            return nodes[node].children.first { JSONString.isEqual(name, nodes[$0].name) }
        }
        return nodes[node].byName[JSONString.decoded(name)]
    }

    private func element(of node: Int, _ index: Int) -> Int {
        guard node != JSONWalk.nowhere else { return JSONWalk.nowhere }
        guard nodes[node].children.count > JSONWalk.few else {
            return nodes[node].children.first { nodes[$0].index == index } ?? JSONWalk.nowhere
        }
        return nodes[node].byIndex[index] ?? JSONWalk.nowhere
    }

    // MARK: Tokens

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        // Everything that is no space and no control character is above them.
        while at < bytes.count, bytes[at] <= 0x20 {
            switch bytes[at] {
            case 0x20, 0x0A, 0x0D, 0x09: at &+= 1
            case _: return
            }
        }
    }

    /// Passes over space and then this byte, if it is the next one.
    private mutating func skip(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        skipSpace(bytes)
        guard at < bytes.count, bytes[at] == byte else { return false }
        at &+= 1
        return true
    }

    /// Passes over a word whose last three letters follow at this offset.
    private mutating func isWord(
        _ bytes: Span<UInt8>,
        _ offset: Int,
        _ first: Unicode.Scalar,
        _ second: Unicode.Scalar,
        _ third: Unicode.Scalar
    ) -> Bool {
        let start = at &+ offset
        guard start &+ 3 <= bytes.count, bytes[start] == UInt8(ascii: first),
            bytes[start &+ 1] == UInt8(ascii: second), bytes[start &+ 2] == UInt8(ascii: third)
        else { return false }
        at = start &+ 3
        return true
    }

    private mutating func isString(_ bytes: Span<UInt8>) -> Bool {
        var next = at &+ 1
        while true {
            next = JSONString.endOfPlain(in: bytes, from: next)
            guard next < bytes.count else { return false }
            let byte = bytes[next]
            next &+= 1
            if byte == UInt8(ascii: "\"") {
                at = next
                return true
            }
            guard byte == UInt8(ascii: "\\"), let length = JSONString.escapeLength(bytes, at: next) else {
                return false
            }
            next &+= length
        }
    }

    private mutating func isNumber(_ bytes: Span<UInt8>) -> Bool {
        var next = at
        if bytes[next] == UInt8(ascii: "-") { next &+= 1 }
        let start = next
        next = JSONWalk.endOfDigits(in: bytes, from: start)
        guard next > start, next == start &+ 1 || bytes[start] != UInt8(ascii: "0") else { return false }
        if next < bytes.count, bytes[next] == UInt8(ascii: ".") {
            let fraction = next &+ 1
            next = JSONWalk.endOfDigits(in: bytes, from: fraction)
            guard next > fraction else { return false }
        }
        if next < bytes.count, bytes[next] | 0x20 == UInt8(ascii: "e") {
            var power = next &+ 1
            if power < bytes.count, bytes[power] == UInt8(ascii: "+") || bytes[power] == UInt8(ascii: "-") {
                power &+= 1
            }
            next = JSONWalk.endOfDigits(in: bytes, from: power)
            guard next > power else { return false }
        }
        at = next
        return true
    }

    private static func endOfDigits(in bytes: Span<UInt8>, from start: Int) -> Int {
        var next = start
        while next < bytes.count, bytes[next] &- UInt8(ascii: "0") < 10 { next &+= 1 }
        return next
    }
}
