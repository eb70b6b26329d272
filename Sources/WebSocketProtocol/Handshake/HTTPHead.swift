/// The head of an HTTP/1.1 message (RFC 9112 §2–§5): a start line and fields.
package struct HTTPHead: Equatable, Sendable {
    package var startLine: String
    package var fields: [HTTPField]

    package init(startLine: String, fields: [HTTPField]) {
        self.startLine = startLine
        self.fields = fields
    }

    /// The values of all fields of this name, in order.
    package func values(of name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// The only value of this name; nil when there is none or more than one.
    package func onlyValue(of name: String) -> String? {
        let values = values(of: name)
        return values.count == 1 ? values.first : nil
    }

    /// Whether a comma-separated list, over all its fields, holds this token in any case.
    func list(_ name: String, contains token: String) -> Bool {
        values(of: name).contains { value in
            value.split(separator: ",").contains { $0.withoutSurroundingSpace.lowercasedASCII == token }
        }
    }
}

/// Reads a head from bytes as they arrive, within a limit.
package struct HTTPHeadReader: Sendable {
    /// Why a head was refused.
    package enum Failure: Error, Equatable, Sendable {
        case tooLarge
        case malformed
    }

    private let limit: Int
    /// What the head must begin with, so that another protocol is refused at its first byte.
    private let prefix: [UInt8]
    private var bytes: [UInt8] = []

    package init(limit: Int, prefix: String) {
        self.limit = limit
        self.prefix = Array(prefix.utf8)
    }

    /// Takes bytes of `input` from `offset` on, up to the end of the head; nil when it is not complete yet.
    package mutating func read(_ input: Span<UInt8>, from offset: inout Int) throws(Failure) -> HTTPHead? {
        while offset < input.count {
            let byte = input[offset]
            offset += 1
            if bytes.count < prefix.count {
                guard byte == prefix[bytes.count] else { throw .malformed }
            }
            guard bytes.count < limit else { throw .tooLarge }
            bytes.append(byte)
            if byte == UInt8(ascii: "\n"), bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                return try HTTPHeadReader.parse(bytes.dropLast(4))
            }
        }
        return nil
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) throws(Failure) -> HTTPHead {
        var lines: [String] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lines.append(String(decoding: line, as: UTF8.self))
        }
        // Every line but the last one, whose end was taken off, ends with CR LF: lone ones are refused.
        for index in lines.indices.dropLast() {
            guard lines[index].utf8.last == UInt8(ascii: "\r") else { throw .malformed }
            lines[index] = String(decoding: lines[index].utf8.dropLast(), as: UTF8.self)
        }
        var fields: [HTTPField] = []
        for line in lines.dropFirst() {
            // A name that is no token also refuses the obsolete folding of lines (RFC 9112 §5.2).
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), line[..<colon].isToken else {
                throw .malformed
            }
            let value = line[line.utf8.index(after: colon)...].withoutSurroundingSpace
            let field = HTTPField(String(line[..<colon]), value)
            guard field.hasValidValue else { throw .malformed }
            fields.append(field)
        }
        guard let start = lines.first, HTTPField("", start).hasValidValue else { throw .malformed }
        return HTTPHead(startLine: start, fields: fields)
    }
}
