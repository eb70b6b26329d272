extension [UInt8] {
    /// Appends a copy of lent bytes.
    mutating func append(copying bytes: Span<UInt8>) {
        // Arrays cannot append spans yet, and a loop over the bytes is many times slower than one copy.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Makes room for `count` more bytes, of `total` that were promised: by doubling, so that a promise alone takes no
    /// memory, and at last exactly, so that there is no room to give back; `least` may be taken whatever has come.
    package mutating func makeRoom(for count: Int, of total: Int, least: Int = 0) {
        let needed = self.count + count
        guard needed > capacity else { return }
        reserveCapacity(Swift.min(total, Swift.max(needed, 2 * capacity, least)))
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
