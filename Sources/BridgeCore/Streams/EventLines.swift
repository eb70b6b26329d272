/// A text as the `data:` lines of an event: one for each of its lines, which LF, CR or CRLF end.
///
/// What follows the last line end is a line too, even if it is empty, so that the client gets every one back.
struct EventLines {
    private let text: [UInt8]
    /// Line ends, of which CRLF has two bytes.
    private let lineEnds: Int
    private let lineEndBytes: Int

    init(_ text: [UInt8]) {
        self.text = text
        lineEndBytes = EventLines.countLineEndBytes(text)
        lineEnds = lineEndBytes == 0 ? 0 : lineEndBytes - EventLines.countPairs(text)
    }

    /// The number of bytes that `append` appends.
    var encodedCount: Int {
        text.count - lineEndBytes + (lineEnds + 1) * (dataField.count + 1)
    }

    func append(to bytes: inout [UInt8]) {
        guard lineEnds > 0 else { return appendLine(text[...], to: &bytes) }
        var rest = text[...]
        while let end = rest.firstIndex(where: { $0 == newline || $0 == carriageReturn }) {
            appendLine(rest[..<end], to: &bytes)
            let isPair = rest[end] == carriageReturn && end + 1 < rest.endIndex && rest[end + 1] == newline
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        appendLine(rest, to: &bytes)
    }

    private func appendLine(_ line: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: dataField)
        bytes.append(contentsOf: line)
        bytes.append(newline)
    }

    /// Without an early exit, so that the compiler can compare many bytes at once.
    private static func countLineEndBytes(_ text: [UInt8]) -> Int {
        var count = 0
        for byte in text { count &+= byte == newline || byte == carriageReturn ? 1 : 0 }
        return count
    }

    private static func countPairs(_ text: [UInt8]) -> Int {
        var count = 0
        var wasReturn = false
        for byte in text {
            if wasReturn, byte == newline { count += 1 }
            wasReturn = byte == carriageReturn
        }
        return count
    }
}

private let dataField = [UInt8]("data: ".utf8)
private let newline = UInt8(ascii: "\n")
private let carriageReturn = UInt8(ascii: "\r")
