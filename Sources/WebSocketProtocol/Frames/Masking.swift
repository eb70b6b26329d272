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

    /// Appends `source`, masked or unmasked, to `output`: one pass over the bytes instead of a copy and a mask.
    func append(_ source: Span<UInt8>, to output: inout [UInt8]) {
        output.append(addingCapacity: source.count) { target in
            // Eight bytes at a step need unaligned loads and stores, which only raw memory offers; every one
            // lies within both by the loops' conditions.
            unsafe target.withUnsafeMutableBufferPointer { buffer, count in
                let bytes = UnsafeMutableRawBufferPointer(buffer)
                unsafe source.withUnsafeBytes { unsafe copy($0, to: bytes) }
                count = source.count
            }
        }
    }

    private func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer) {
        let wide = (UInt64(bits) << 32 | UInt64(bits)).littleEndian
        var index = 0
        while index &+ 8 <= source.count {
            let word = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            unsafe target.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < source.count {
            let byte = UInt8(truncatingIfNeeded: bits >> (UInt32(truncatingIfNeeded: index & 3) &* 8))
            unsafe target[index] = source[index] ^ byte
            index &+= 1
        }
    }
}
