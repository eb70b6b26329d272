extension [UInt8] {
    /// Appends a copy of lent bytes.
    mutating func append(copying bytes: Span<UInt8>) {
        // Arrays cannot append spans yet, and a loop over the bytes is many times slower than one copy.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Gives back room that was reserved for more, where that is much.
    ///
    /// For what is kept for long: growing by doubling may have left it as much room again as it needs.
    package mutating func giveBackSpareRoom() {
        guard capacity - count > Swift.max(count / 8, 256) else { return }
        var exact: [UInt8] = []
        exact.reserveCapacity(count)
        exact.append(contentsOf: self)
        self = exact
    }
}
