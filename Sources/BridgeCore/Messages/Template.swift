/// A text with places that are filled in when a message is made of it: `{"op":1,"d":{{last:/s}}}`.
///
/// Compiled once. Whatever stands in a message fills its place and no more: in a JSON template a value can neither
/// end the string it stands in nor add to the structure around it.
package struct Template: Equatable, Sendable {
    indirect enum Piece: Equatable, Sendable {
        case text([UInt8])
        case value(Source, Position)
        /// The time of day, as RFC 3339.
        case now
        /// The time of day, in milliseconds since 1970.
        case nowMilliseconds
        /// A random UUID (version 4).
        case uuid
        /// The number of the message on its socket.
        case counter
        /// The SHA-256, in base64, of what the pieces come to.
        case digest([Piece])
    }

    /// Where a value is taken from.
    enum Source: Equatable, Sendable {
        /// The message at hand, by the number of the pointer.
        case message(Int)
        case last(JSONPointer)
        case variable(String)
    }

    /// What surrounds a value.
    enum Position: Equatable, Sendable {
        /// No JSON: strings lose their quotes and keep their escapes, other values stay as they are.
        case plain
        /// Inside a string of JSON: other values than strings become text.
        case string
        /// A value of JSON: strings keep their quotes.
        case json
        /// What is hashed: strings are what they stand for.
        case digest
    }

    /// As it was written.
    package let source: String
    let pieces: [Piece]
    /// Those of the message at hand.
    let pointers: [JSONPointer]
    let search: JSONSearch
    /// It makes an object or an array, whatever is filled in.
    let isJSON: Bool

    /// - Throws: `MalformedValue`, which shows nothing of the text.
    package init(_ source: String) throws(MalformedValue) {
        var parser = TemplateParser()
        let pieces = try parser.pieces(of: Array(source.utf8)[...])
        let placed = JSONPositions.assign(to: pieces)
        self.source = source
        self.pieces = placed ?? pieces
        isJSON = placed != nil
        pointers = parser.pointers
        search = JSONSearch(pointers)
    }

    /// Nothing is filled in: the template stands for this text always.
    package var constant: [UInt8]? {
        switch pieces.count {
        case 0: return []
        case 1:
            guard case .text(let text) = pieces[0] else { return nil }
            return text
        case _: return nil
        }
    }

    /// It asks for a value of the message at hand.
    package var needsMessage: Bool { !pointers.isEmpty }

    /// It takes a number.
    var needsCounter: Bool { pieces.contains { $0.has { $0 == .counter } } }

    /// It asks for the time of day.
    var needsTimeOfDay: Bool { pieces.contains { $0.has { $0 == .now || $0 == .nowMilliseconds } } }

    /// The pointers whose newest values must be remembered for it.
    var remembered: [JSONPointer] {
        sources.compactMap { if case .last(let pointer) = $0 { pointer } else { nil } }
    }

    /// The captured variables that it names.
    package var variables: [String] {
        sources.compactMap { if case .variable(let name) = $0 { name } else { nil } }
    }

    private var sources: [Source] { pieces.flatMap(\.sources) }
}

extension Template.Piece {
    fileprivate func has(_ isMeant: (Template.Piece) -> Bool) -> Bool {
        if case .digest(let pieces) = self { return pieces.contains { $0.has(isMeant) } }
        return isMeant(self)
    }

    fileprivate var sources: [Template.Source] {
        switch self {
        case .value(let source, _): [source]
        case .digest(let pieces): pieces.flatMap(\.sources)
        case .text, .now, .nowMilliseconds, .uuid, .counter: []
        }
    }
}
