/// Reads server-sent events from bytes as they arrive, by the rules of WHATWG HTML §9.2.6.
///
/// An event whose blank line has not come is not there yet, and a dropped stream loses it.
package struct EventStreamReader: Sendable {
    /// An event with data.
    package struct Event: Equatable, Sendable {
        /// `message` if the stream names none.
        package var type: String
        /// Without the line feed after the last line.
        package var data: [UInt8]
        /// The newest id up to here; empty if there was none.
        package var id: String

        package init(type: String = "message", data: [UInt8], id: String = "") {
            self.type = type
            self.data = data
            self.id = id
        }
    }

    /// An event, or one line of it, is larger than the limit.
    package struct TooLarge: Error, Equatable, Sendable {
        package var limit: Int

        package init(limit: Int) {
            self.limit = limit
        }
    }

    /// Of an event's data, and of any line.
    private let limit: Int
    /// What an interrupted stream is continued after: the newest id that a blank line confirmed.
    package private(set) var lastID: String
    /// How long to wait before coming back, in milliseconds, if the stream said so.
    package private(set) var retry: Int?
    private var line: [UInt8] = []
    private var isAfterReturn = false
    private var isFirstLine = true
    private var data: [UInt8] = []
    private var type = ""
    private var id: String

    /// `lastID` is the one of the stream that this one continues.
    package init(lastID: String = "", limit: Int = 256 << 20) {
        self.lastID = lastID
        self.limit = limit
        id = lastID
    }

    /// Takes in what arrived, and returns the events that it completes.
    package mutating func read(_ input: [UInt8]) throws(TooLarge) -> [Event] {
        var events: [Event] = []
        var rest = input[...]
        while let first = rest.first {
            if isAfterReturn, first == 0x0A {
                isAfterReturn = false
                rest = rest.dropFirst()
                continue
            }
            isAfterReturn = false
            let end = rest.firstIndex { $0 == 0x0A || $0 == 0x0D } ?? rest.endIndex
            line += rest[..<end]
            guard line.count <= limit, data.count <= limit else { throw TooLarge(limit: limit) }
            guard end < rest.endIndex else { break }
            isAfterReturn = rest[end] == 0x0D
            rest = rest[(end + 1)...]
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: line.capacity <= 64 << 10) }
        var content = line[...]
        if isFirstLine, content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        isFirstLine = false
        guard !content.isEmpty else { return dispatch() }
        let colon = content.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { content[($0 + 1)...] } ?? []
        if value.first == 0x20 { value = value.dropFirst() }
        field(content[..<(colon ?? content.endIndex)], value)
        return nil
    }

    /// Fields of other names, and comments, whose name is empty, are passed over.
    private mutating func field(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
        switch String(decoding: name, as: UTF8.self) {
        case "event":
            type = String(decoding: value, as: UTF8.self)
        case "data":
            data += value
            data.append(0x0A)
        case "id" where !value.contains(0):
            id = String(decoding: value, as: UTF8.self)
        case "retry":
            if let milliseconds = Int(digits: String(decoding: value, as: UTF8.self)) { retry = milliseconds }
        default:
            break
        }
    }

    private mutating func dispatch() -> Event? {
        lastID = id
        defer {
            data = []
            type = ""
        }
        guard !data.isEmpty else { return nil }
        return Event(type: type.isEmpty ? "message" : type, data: data.dropLast(), id: id)
    }
}
