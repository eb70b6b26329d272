/// The ids of messages that were accepted together: their numbers follow one another.
package struct MessageIDs: RandomAccessCollection, Equatable, Sendable {
    package let outbox: OutboxID
    package let numbers: Range<UInt64>

    package init(outbox: OutboxID, numbers: Range<UInt64>) {
        self.outbox = outbox
        self.numbers = numbers
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { numbers.count }

    package subscript(index: Int) -> MessageID {
        precondition(indices.contains(index))
        return MessageID(outbox: outbox, number: numbers.lowerBound + UInt64(index))
    }

    /// Where the id stands; nil if it is none of them.
    package func firstIndex(of id: MessageID) -> Int? {
        id.outbox == outbox && numbers.contains(id.number) ? Int(id.number - numbers.lowerBound) : nil
    }
}
