package import WebSocketProtocol

/// What must stand where in a message, which has to be JSON, for a subscriber to get it; nothing: any message will do.
package struct ContentFilter: Hashable, Sendable {
    /// A value at a place: this string, or another value whose JSON text, as the message has it, is this.
    package struct Condition: Hashable, Sendable {
        package let pointer: JSONPointer
        package let value: String
        private let bytes: [UInt8]

        package init(_ pointer: JSONPointer, _ value: String) {
            self.pointer = pointer
            self.value = value
            bytes = Array(value.utf8)
        }

        /// Reads `POINTER:VALUE`, parted by the first colon; nil if there is none, or no pointer before it.
        package init?(_ text: String) {
            guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
                let pointer = JSONPointer(String(text[..<colon]))
            else { return nil }
            self.init(pointer, String(text[text.utf8.index(after: colon)...]))
        }

        /// As it is written in a request.
        package var text: String { "\(pointer.text):\(value)" }

        /// Whether the bytes, one value of a document, are what is asked for.
        func holds(for found: Span<UInt8>) -> Bool {
            guard found.count >= 2, found[0] == UInt8(ascii: "\"") else {
                return JSONString.areSame(found, bytes)
            }
            return JSONString.isEqual(found.extracting(1..<(found.count - 1)), bytes)
        }
    }

    /// All of them must hold; in an order that does not depend on that of the request.
    package let conditions: [Condition]
    private let search: JSONSearch

    package init(_ conditions: [Condition] = []) {
        self.conditions = Set(conditions).sorted { $0.text < $1.text }
        search = JSONSearch(self.conditions.map(\.pointer))
    }

    package static func == (left: ContentFilter, right: ContentFilter) -> Bool {
        left.conditions == right.conditions
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(conditions) }

    /// Whether any message will do.
    package var isEmpty: Bool { conditions.isEmpty }

    package func accepts(_ message: Message) -> Bool {
        guard !isEmpty else { return true }
        guard let found = message.values(search) else { return false }
        return accepts(message, found, places: conditions.indices)
    }

    /// The same when the values have been found already; `places` tells which of them are for each condition.
    func accepts(
        _ message: Message,
        _ found: [Range<Int>?],
        places: some Sequence<Int>
    ) -> Bool {
        for (condition, place) in zip(conditions, places) {
            guard let range = found[place], condition.holds(for: message.bytes.span.extracting(range)) else {
                return false
            }
        }
        return true
    }
}
