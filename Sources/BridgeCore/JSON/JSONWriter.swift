/// Writes JSON (RFC 8259) as UTF-8 bytes, in the order in which it is told to.
///
/// The caller keeps the grammar: inside an object only `member`, inside an array only `element`.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Room for a short answer, so that it does not move while it grows.
    private static let firstBytes = 128

    package init() {
        bytes.reserveCapacity(JSONWriter.firstBytes)
    }

    package mutating func object(_ members: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        members(&self)
        close(UInt8(ascii: "}"))
    }

    package mutating func array(_ elements: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        elements(&self)
        close(UInt8(ascii: "]"))
    }

    package mutating func member(_ name: StaticString, _ value: String?) {
        key(name)
        string(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        append(value ? "true" : "false")
    }

    package mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        key(name)
        append(String(value))
    }

    package mutating func member(_ name: StaticString, null: Void = ()) {
        key(name)
        append("null")
    }

    /// A whole number, or null.
    package mutating func member<Number: BinaryInteger>(_ name: StaticString, ifPresent value: Number?) {
        guard let value else { return member(name, null: ()) }
        member(name, value)
    }

    /// A duration in milliseconds, with at most three decimals, or null.
    package mutating func member(_ name: StaticString, milliseconds duration: Duration?) {
        guard let duration else { return member(name, null: ()) }
        key(name)
        append(JSONWriter.milliseconds(duration))
    }

    /// A member whose value `write` makes: an object or an array.
    package mutating func member(_ name: StaticString, _ write: (inout JSONWriter) -> Void) {
        key(name)
        write(&self)
        needsComma = true
    }

    /// Ends the line, which pleases people who read it in a terminal.
    package mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
    }

    package mutating func element(_ value: String) {
        comma()
        string(value)
    }

    /// An element that `write` makes: an object or an array.
    package mutating func element(_ write: (inout JSONWriter) -> Void) {
        comma()
        write(&self)
        needsComma = true
    }

    /// A member whose value is text in which nothing has to be escaped, which `append` appends.
    package mutating func member(_ name: StaticString, plain append: (inout [UInt8]) -> Void) {
        key(name)
        bytes.append(UInt8(ascii: "\""))
        append(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A member whose value is JSON already.
    package mutating func member(_ name: StaticString, json value: [UInt8]) {
        key(name)
        bytes.append(contentsOf: value)
    }

    /// An element that is JSON already, which `append` appends.
    package mutating func encodedElement(_ append: (inout [UInt8]) -> Void) {
        comma()
        append(&bytes)
    }

    private mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func key(_ name: StaticString) {
        comma()
        // Names in our own code have nothing to escape.
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func string(_ value: String?) {
        guard let value else { return append("null") }
        JSONWriter.appendString(value.utf8, to: &bytes)
    }

    /// Milliseconds with at most three decimals, as `member` writes them.
    static func milliseconds(_ duration: Duration) -> String {
        let microseconds = duration.nanoseconds / 1000
        let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let sign = microseconds < 0 ? "-" : ""
        guard fraction > 0 else { return sign + String(whole) }
        let digits = String(fraction + 1000).dropFirst()
        let trimmed = digits.reversed().drop { $0 == "0" }.reversed()
        return sign + String(whole) + "." + String(trimmed)
    }
}

extension JSONWriter {
    /// Appends a quoted string whose content is `utf8`, which must be valid UTF-8.
    ///
    /// Only what RFC 8259 §7 demands is escaped, so every other character stays as it is.
    package static func appendString(_ utf8: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: utf8)
        if JSONText.mayNeedEscapes(bytes.span.extracting((start + 1)...)) {
            let text = JSONText(Array(bytes[(start + 1)...]))
            bytes.removeSubrange(start...)
            bytes.append(addingCapacity: text.encodedCount, initializingWith: text.append)
        } else {
            bytes.append(UInt8(ascii: "\""))
        }
    }
}
