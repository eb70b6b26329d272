/// Reads an event stream by the rules of WHATWG HTML §9.2.5 and §9.2.6, as a browser does.
///
/// Written from the standard, with nothing of the encoder that it judges.
package struct EventSourceParser {
    package struct Event: Equatable {
        package var id: String
        package var type: String
        package var data: [UInt8]

        package init(id: String, type: String = "message", data: [UInt8]) {
            self.id = id
            self.type = type
            self.data = data
        }

        package init(id: String, type: String = "message", data: String) {
            self.init(id: id, type: type, data: Array(data.utf8))
        }
    }

    package private(set) var events: [Event] = []
    package private(set) var lastEventID = ""
    package private(set) var reconnectionTime: Int?
    package private(set) var comments = 0
    /// Fields with names that the standard does not know.
    package private(set) var strangers: [String] = []
    private var data: [UInt8] = []
    private var type = ""
    private var idBuffer = ""

    /// Parses a whole stream; an event that no blank line ends is discarded.
    package init(_ stream: some Collection<UInt8>) {
        var line: [UInt8] = []
        var isAfterReturn = false
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for byte in stream.starts(with: mark) ? Array(stream.dropFirst(3)) : Array(stream) {
            if isAfterReturn, byte == 0x0A {
                isAfterReturn = false
                continue
            }
            isAfterReturn = byte == 0x0D
            if byte == 0x0A || byte == 0x0D {
                endLine(line)
                line = []
            } else {
                line.append(byte)
            }
        }
    }

    private mutating func endLine(_ line: [UInt8]) {
        guard !line.isEmpty else { return dispatch() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return field(line, []) }
        guard colon > 0 else {
            comments += 1
            return
        }
        var value = line[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        field(Array(line[..<colon]), Array(value))
    }

    private mutating func field(_ name: [UInt8], _ value: [UInt8]) {
        switch String(decoding: name, as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            data += value + [0x0A]
        case "id":
            if !value.contains(0) { idBuffer = String(decoding: value, as: UTF8.self) }
        case "retry":
            if value.allSatisfy({ 0x30...0x39 ~= $0 }) {
                reconnectionTime = Int(String(decoding: value, as: UTF8.self))
            }
        case let other:
            strangers.append(other)
        }
    }

    private mutating func dispatch() {
        lastEventID = idBuffer
        defer {
            data = []
            type = ""
        }
        guard !data.isEmpty else { return }
        events.append(Event(id: lastEventID, type: type.isEmpty ? "message" : type, data: data.dropLast()))
    }
}

/// Takes the chunks off a body of RFC 9112 §7.1; nil if it is not one.
package func chunks(of body: [UInt8]) -> (chunks: [[UInt8]], isEnded: Bool)? {
    var chunks: [[UInt8]] = []
    var rest = body[...]
    while let lineEnd = rest.firstIndex(of: 0x0D) {
        guard let size = Int(String(decoding: rest[..<lineEnd], as: UTF8.self), radix: 16), size >= 0,
            rest[lineEnd...].starts(with: [0x0D, 0x0A])
        else { return nil }
        let content = rest[(lineEnd + 2)...].prefix(size)
        rest = rest[(lineEnd + 2)...].dropFirst(size)
        guard content.count == size, rest.starts(with: [0x0D, 0x0A]) else { return nil }
        rest = rest.dropFirst(2)
        if size == 0 { return rest.isEmpty ? (chunks, true) : nil }
        chunks.append(Array(content))
    }
    return rest.isEmpty ? (chunks, false) : nil
}
