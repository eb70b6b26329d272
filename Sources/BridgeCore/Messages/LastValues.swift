package import WebSocketProtocol

/// The newest value other than null that a connection received at each of some pointers.
package struct LastValues: Equatable, Sendable {
    /// A longer one is not remembered, and makes the older one void.
    static let longest = 64 << 10

    /// Each once.
    let pointers: [JSONPointer]
    private let search: JSONSearch
    /// As JSON, in the order of the pointers.
    private var values: [[UInt8]?]

    /// Remembers nothing else than what these name.
    package init(_ pointers: [JSONPointer]) {
        var distinct: [JSONPointer] = []
        for pointer in pointers where !distinct.contains(pointer) { distinct.append(pointer) }
        self.pointers = distinct
        search = JSONSearch(distinct)
        values = Array(repeating: nil, count: distinct.count)
    }

    /// The same for other pointers; what is known for those that stay is kept.
    func narrowed(to pointers: [JSONPointer]) -> LastValues {
        var narrowed = LastValues(pointers)
        for (index, pointer) in narrowed.pointers.enumerated() { narrowed.values[index] = self[pointer] }
        return narrowed
    }

    /// Returns the pointers at which something is too long to be remembered.
    @discardableResult
    package mutating func received(_ message: Message) -> [JSONPointer] {
        guard !pointers.isEmpty, let found = message.values(search) else { return [] }
        var tooLong: [JSONPointer] = []
        for (index, place) in found.enumerated() {
            // Of the values of JSON only null begins with an n.
            guard let place, message.bytes[place.lowerBound] != UInt8(ascii: "n") else { continue }
            let isTooLong = place.count > LastValues.longest
            values[index] = isTooLong ? nil : Array(message.bytes[place])
            if isTooLong { tooLong.append(pointers[index]) }
        }
        return tooLong
    }

    subscript(pointer: JSONPointer) -> [UInt8]? {
        pointers.firstIndex(of: pointer).flatMap { values[$0] }
    }
}
