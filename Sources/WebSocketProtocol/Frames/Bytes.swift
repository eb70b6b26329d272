extension [UInt8] {
    /// Appends a copy of lent bytes.
    mutating func append(copying bytes: Span<UInt8>) {
        // Arrays cannot append spans yet, and a loop over the bytes is many times slower than one copy.
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
