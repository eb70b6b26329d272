/// The ids of messages that were accepted together: their numbers follow one another.
package struct MessageIDs: RandomAccessCollection, Equatable, Sendable {
    package let epoch: Epoch
    package let numbers: Range<UInt64>

    package init(epoch: Epoch, numbers: Range<UInt64>) {
        self.epoch = epoch
        self.numbers = numbers
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { numbers.count }

    package subscript(index: Int) -> MessageID {
        precondition(indices.contains(index))
        return MessageID(epoch: epoch, number: numbers.lowerBound + UInt64(index))
    }

    /// Where the id stands; nil if it is none of them.
    package func firstIndex(of id: MessageID) -> Int? {
        id.epoch == epoch && numbers.contains(id.number) ? Int(id.number - numbers.lowerBound) : nil
    }
}
