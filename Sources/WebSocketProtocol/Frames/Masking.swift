/// The mask of one frame (RFC 6455 §5.3).
struct MaskKey: Equatable, Sendable {
    /// The four key bytes; the first one on the wire is the least significant.
    var bits: UInt32

    /// The key as it is used from byte `offset` of the payload on.
    func rotated(by offset: Int) -> MaskKey {
        let shift = UInt32(truncatingIfNeeded: offset & 3) * 8
        guard shift > 0 else { return self }
        return MaskKey(bits: bits >> shift | bits << (32 - shift))
    }

    /// Masks or unmasks the bytes of `buffer` from `start` to its end.
    func apply(to buffer: inout [UInt8], from start: Int = 0) {
        let wide = UInt64(bits) << 32 | UInt64(bits)
        // Eight bytes at a step need unaligned loads and stores, which only raw memory offers; every one lies
        // within the buffer by the loop's condition.
        unsafe buffer.withUnsafeMutableBytes { bytes in
            var index = start
            while index &+ 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                unsafe bytes.storeBytes(of: word ^ wide.littleEndian, toByteOffset: index, as: UInt64.self)
                index &+= 8
            }
            var rest = bits
            while index < bytes.count {
                unsafe bytes[index] ^= UInt8(truncatingIfNeeded: rest)
                rest >>= 8
                // At most seven bytes are left: start over after four of them.
                if (index &- start) & 3 == 3 { rest = bits }
                index &+= 1
            }
        }
    }
}
