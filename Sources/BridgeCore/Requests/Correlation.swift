package import WebSocketProtocol

/// How the reply to a request is told from other messages.
package enum Correlation: Equatable, Sendable {
    /// It is the next message; of several requests that wait so, the oldest takes it.
    case next
    /// It has the same value as the request there, which is given one if it has none.
    case member(CorrelationPlace, RequestSettings.ID)
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

/// Where one request has the value that tells its reply, or takes one: looked for once, when the request comes.
package struct CorrelationPlace: Equatable, Sendable {
    package let pointer: JSONPointer
    fileprivate let content: Content

    fileprivate enum Content: Equatable {
        /// The request has its own.
        case own(CorrelationKey)
        /// Null stands there.
        case null(Range<Int>)
        /// There is nothing: these members are to be added here, each inside of the one before.
        case nothing(at: Int, members: [[UInt8]], isAlone: Bool)
    }
}

/// A request that has its value, and is to be sent so.
package struct IdentifiedRequest: Equatable, Sendable {
    package var message: Message
    package var key: CorrelationKey
}

extension Message {
    /// Where the message has a value at the pointer, or can be given one.
    ///
    /// Null counts as none. Nil where there is none and can be none: the message is no JSON, or what would have it is no object, or what stands
    /// there is no string, number or truth value.
    package func correlationPlace(at pointer: JSONPointer) -> CorrelationPlace? {
        guard pointer.steps.count <= JSONSearch.deepest, let found = values(JSONSearch(along: pointer)),
            let whole = found.last
        else { return nil }
        if let whole {
            guard bytes[whole.lowerBound] != UInt8(ascii: "n") else {
                return CorrelationPlace(pointer: pointer, content: .null(whole))
            }
            return CorrelationKey(bytes[whole]).map { CorrelationPlace(pointer: pointer, content: .own($0)) }
        }
        guard let depth = found.lastIndex(where: { $0 != nil }), let object = found[depth],
            bytes[object.lowerBound] == UInt8(ascii: "{")
        else { return nil }
        let content = CorrelationPlace.Content.nothing(
            at: object.lowerBound + 1,
            members: Array(pointer.steps[depth...]),
            isAlone: JSONSearch.isEmptyObject(bytes[object])
        )
        return CorrelationPlace(pointer: pointer, content: content)
    }

    /// The same message with a value at a place of it: its own, or else `id`.
    ///
    /// `id` must be a string or a number of JSON, or nil comes of it.
    package func identified(at place: CorrelationPlace, id: () -> [UInt8]) -> IdentifiedRequest? {
        if case .own(let key) = place.content { return IdentifiedRequest(message: self, key: key) }
        let value = id()
        guard let key = CorrelationKey(value[...]) else { return nil }
        var identified = self
        switch place.content {
        case .own: break
        case .null(let range): identified.bytes.replaceSubrange(range, with: value)
        case .nothing(let index, let members, let isAlone):
            let member = JSONSearch.member(members, value) + (isAlone ? [] : [UInt8(ascii: ",")])
            identified.bytes.insert(contentsOf: member, at: index)
        }
        return IdentifiedRequest(message: identified, key: key)
    }
}

extension JSONSearch {
    fileprivate static func isEmptyObject(_ object: ArraySlice<UInt8>) -> Bool {
        object.dropFirst().first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "}")
    }

    /// A member by these names, each inside of the one before.
    fileprivate static func member(_ names: [[UInt8]], _ value: [UInt8]) -> [UInt8] {
        var member: [UInt8] = []
        for name in names {
            if !member.isEmpty { member.append(UInt8(ascii: "{")) }
            JSONWriter.appendString(name, to: &member)
            member.append(UInt8(ascii: ":"))
        }
        return member + value + Array(repeating: UInt8(ascii: "}"), count: names.count - 1)
    }
}
