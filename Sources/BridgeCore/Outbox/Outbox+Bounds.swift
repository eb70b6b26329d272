extension Outbox {
    /// What may be in the outbox beside what is to come into it.
    struct Bounds {
        var messages: Int
        var bytes: Int
        var memory: Int

        func hold(_ count: Int, _ size: Int) -> Bool {
            count <= messages && size <= bytes && Outbox.memoryBytes(count, size) <= memory
        }
    }

    /// What so many messages take of the process' memory.
    static func memoryBytes(_ messages: Int, _ bytes: Int) -> Int {
        bytes + messages * MemoryCost.inQueue(Entry.self)
    }

    func bounds(beside count: Int, size: Int, within room: OutboxRoom) -> Bounds {
        let memory = memoryBytes.addingReportingOverflow(room.free)
        return Bounds(
            messages: settings.maxMessages - count,
            bytes: settings.maxBytes - size,
            memory: (memory.overflow ? .max : memory.partialValue) - Outbox.memoryBytes(count, size)
        )
    }

    /// Which of the bounds what is there is beyond.
    func exceeded(of bounds: Bounds) -> OutboxBound {
        if messages > bounds.messages { return .messages(limit: settings.maxMessages) }
        return bytes > bounds.bytes ? .bytes(limit: settings.maxBytes) : .memory
    }
}
