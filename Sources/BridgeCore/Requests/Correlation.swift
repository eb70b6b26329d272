package import WebSocketProtocol

/// How the reply to a request is told from other messages.
package enum Correlation: Equatable, Sendable {
    /// It is the next message; of several requests that wait so, the oldest takes it.
    case next
    /// It has the same value there as the request, which is given one if it has none.
    case member(JSONPointer, RequestSettings.ID)
}

/// The value that a request and its reply have in common.
package enum CorrelationKey: Hashable, Sendable {
    case string([UInt8])
    /// However it is written.
    case number(JSONNumber)
    case bool(Bool)

    /// Nil unless the bytes are a string, a number or a truth value of JSON.
    init?(_ value: ArraySlice<UInt8>) {
        switch value.first {
        case UInt8(ascii: "\""): self = .string(JSONString.meaning(of: value))
        case UInt8(ascii: "t"): self = .bool(true)
        case UInt8(ascii: "f"): self = .bool(false)
        case _:
            guard let number = JSONNumber(value.span) else { return nil }
            self = .number(number)
        }
    }
}

/// A request that has its value, and is to be sent so.
package struct IdentifiedRequest: Equatable, Sendable {
    package var message: Message
    package var key: CorrelationKey
}

extension Message {
    /// The same message with a value at the pointer: its own, or else `id`, which is JSON, in a member that is added.
    ///
    /// Nil where there is none and can be none: the message is no JSON, or what would have it is no object, or what stands
    /// there is no string, number or truth value. Null counts as none.
    package func identified(at pointer: JSONPointer, id: () -> [UInt8]) -> IdentifiedRequest? {
        guard let found = values(JSONSearch(pointer.prefixes)), let whole = found.last else { return nil }
        if let whole, bytes[whole.lowerBound] != UInt8(ascii: "n") {
            return CorrelationKey(bytes[whole]).map { IdentifiedRequest(message: self, key: $0) }
        }
        let value = id()
        guard let key = CorrelationKey(value[...]) else { return nil }
        var identified = self
        if let whole {
            identified.bytes.replaceSubrange(whole, with: value)
        } else {
            guard let depth = found.lastIndex(where: { $0 != nil }), let place = found[depth],
                bytes[place.lowerBound] == UInt8(ascii: "{")
            else { return nil }
            let isEmpty = JSONSearch.isEmptyObject(bytes[place])
            let member =
                JSONSearch.member(at: pointer.steps[depth...], value) + (isEmpty ? [] : [UInt8(ascii: ",")])
            identified.bytes.insert(contentsOf: member, at: place.lowerBound + 1)
        }
        return IdentifiedRequest(message: identified, key: key)
    }
}

extension JSONPointer {
    /// The pointers to all that the value stands in, from the document down, and to itself.
    fileprivate var prefixes: [JSONPointer] {
        (0...steps.count).map { JSONPointer(steps: Array(steps[..<$0])) }
    }
}

extension JSONSearch {
    fileprivate static func isEmptyObject(_ object: ArraySlice<UInt8>) -> Bool {
        object.dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "}")
    }

    /// A member by these names, each inside of the one before.
    fileprivate static func member(at steps: ArraySlice<[UInt8]>, _ value: [UInt8]) -> [UInt8] {
        var member: [UInt8] = []
        for step in steps {
            if !member.isEmpty { member.append(UInt8(ascii: "{")) }
            JSONWriter.appendString(step, to: &member)
            member.append(UInt8(ascii: ":"))
        }
        return member + value + Array(repeating: UInt8(ascii: "}"), count: steps.count - 1)
    }
}
