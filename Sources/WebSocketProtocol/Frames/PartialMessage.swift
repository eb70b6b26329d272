/// The message whose frames are arriving (RFC 6455 §5.4): checked, inflated and joined as they do.
struct PartialMessage {
    /// An announced length reserves no more than this before the bytes are there.
    private static let maximumReservedBytes = 1 << 20

    private let kind: Message.Kind
    /// Nil when this message is not compressed, whatever was agreed (RFC 7692 §6).
    private let inflater: (any MessageInflater)?
    private let limit: Int
    private var text = UTF8Validator()
    private var bytes: [UInt8] = []
    /// What all of it is to be, once that is known and if it is more than was reserved at first; else 0.
    private var total = 0

    init(_ kind: Message.Kind, limit: Int, inflater: (any MessageInflater)?) {
        self.kind = kind
        self.limit = limit
        self.inflater = inflater
    }

    /// Makes room for the payload of one more frame, or refuses it.
    mutating func expect(_ count: Int, isLast: Bool) throws(WebSocketFailure) {
        // What a compressed message comes to shows only while it is inflated.
        guard inflater == nil else { return }
        // Never `bytes.count + count`, which a hostile length would overflow.
        guard count <= limit - bytes.count else { throw .tooBig }
        // Once a message: reservations are exact, so one for each fragment would copy it all every time.
        if bytes.isEmpty { bytes.reserveCapacity(min(count, PartialMessage.maximumReservedBytes)) }
        if isLast, count > PartialMessage.maximumReservedBytes - bytes.count { total = bytes.count + count }
    }

    mutating func append(_ chunk: Span<UInt8>) throws(WebSocketFailure) {
        if let inflater {
            let start = bytes.count
            try inflater.inflate(chunk, into: &bytes, limit: limit)
            try checkText(from: start)
        } else {
            guard kind == .binary || text.accept(chunk) else { throw .notUTF8 }
            if total > 0 { bytes.makeRoom(for: chunk.count, of: total) }
            bytes.append(copying: chunk)
        }
    }

    /// The message, after its last frame.
    consuming func finished() throws(WebSocketFailure) -> Message {
        if let inflater {
            let start = bytes.count
            try inflater.finishMessage(into: &bytes, limit: limit)
            try checkText(from: start)
        }
        guard kind == .binary || text.isAtBoundary else { throw .notUTF8 }
        bytes.giveBackSpareRoom()
        return Message(kind, bytes)
    }

    private mutating func checkText(from start: Int) throws(WebSocketFailure) {
        guard kind == .text else { return }
        // A copy, since the bytes are lent out of the same value.
        var validator = text
        guard validator.accept(bytes.span.extracting(start...)) else { throw .notUTF8 }
        text = validator
    }
}
