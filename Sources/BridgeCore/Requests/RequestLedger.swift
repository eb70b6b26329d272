package import WebSocketProtocol

/// The requests of one connection that wait for their replies.
///
/// A reply counts only once its request was handed to a socket, and if it comes on that one: while one takes the place of
/// another, both may know the same values.
package struct RequestLedger: Sendable {
    private struct Entry {
        let correlation: Correlation
        /// Nil while it waits to be sent.
        var socket: SocketID?
        var key: CorrelationKey?
    }

    private var entries: [UInt64: Entry] = [:]
    /// How many of them were sent on each socket; no count is zero.
    private var counts: [SocketID: Int] = [:]
    /// Those that take the next message, oldest first.
    private var next: [UInt64] = []
    /// Those that look for a value, by where and which, oldest first.
    private var byKey: [JSONPointer: [CorrelationKey: [UInt64]]] = [:]
    /// Where values are looked for at the moment.
    private var pointers: [JSONPointer] = []
    private var search = JSONSearch([])

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// A request waits to be sent; its number is that of its message.
    package mutating func accepted(_ number: UInt64, _ correlation: Correlation) {
        entries[number] = Entry(correlation: correlation)
    }

    package func correlation(of number: UInt64) -> Correlation? { entries[number]?.correlation }

    /// It is handed to a socket now, with this value if it is told by one.
    package mutating func sent(_ number: UInt64, _ key: CorrelationKey?, on socket: SocketID) {
        guard let entry = entries[number], entry.socket == nil else { return }
        entries[number]?.socket = socket
        counts[socket, default: 0] += 1
        switch (entry.correlation, key) {
        case (.next, _):
            next.append(number)
        case (.member(let place, _), let key?):
            let pointer = place.pointer
            entries[number]?.key = key
            if byKey[pointer] == nil { look(at: pointers + [pointer]) }
            byKey[pointer, default: [:]][key, default: []].append(number)
        case (.member, nil):
            break
        }
    }

    /// A message came on a socket: the requests that it answers, which wait no longer.
    ///
    /// Those that take the next message do so only if this counts as one.
    package mutating func received(
        _ message: Message,
        on socket: SocketID,
        isNext: Bool = true
    ) -> [UInt64] {
        guard waits(on: socket) else { return [] }
        var answered: [UInt64] = []
        if !pointers.isEmpty, let found = message.values(search) {
            for (pointer, place) in zip(pointers, found) {
                guard let place, let key = CorrelationKey(message.bytes[place]),
                    let number = byKey[pointer]?[key]?.first(where: { entries[$0]?.socket == socket })
                else { continue }
                answered.append(number)
            }
        }
        if isNext, let number = next.first(where: { entries[$0]?.socket == socket }) {
            answered.append(number)
        }
        for number in answered { remove(number) }
        return answered
    }

    /// The request waits no longer; false if it did not.
    @discardableResult
    package mutating func remove(_ number: UInt64) -> Bool {
        guard let entry = entries.removeValue(forKey: number) else { return false }
        if let socket = entry.socket, let count = counts[socket] {
            counts[socket] = count > 1 ? count - 1 : nil
        }
        switch entry.correlation {
        case .next:
            // Mostly the first one.
            if let place = next.firstIndex(of: number) { next.remove(at: place) }
        case .member(let place, _):
            let pointer = place.pointer
            guard let key = entry.key else { break }
            byKey[pointer]?[key]?.removeAll { $0 == number }
            if byKey[pointer]?[key]?.isEmpty == true { byKey[pointer]?[key] = nil }
            guard byKey[pointer]?.isEmpty == true else { break }
            byKey[pointer] = nil
            look(at: pointers.filter { $0 != pointer })
        }
        return true
    }

    /// Those that were sent on a socket, which is gone.
    package func sent(on socket: SocketID) -> [UInt64] {
        entries.filter { $0.value.socket == socket }.keys.sorted()
    }

    package func waits(on socket: SocketID) -> Bool {
        counts[socket] != nil
    }

    /// All of them.
    package var numbers: [UInt64] { entries.keys.sorted() }

    private mutating func look(at pointers: [JSONPointer]) {
        self.pointers = pointers
        search = JSONSearch(pointers)
    }
}
