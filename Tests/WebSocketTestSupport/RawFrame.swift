/// The bytes of one frame, right or wrong: the first byte is given as it goes out.
///
/// With a `mask`, its first byte on the wire is the most significant one.
package func rawFrame(_ first: UInt8, _ payload: [UInt8] = [], mask: UInt32? = nil) -> [UInt8] {
    var bytes = [first]
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ..<126: bytes.append(maskBit | UInt8(payload.count))
    case ..<65536: bytes += [maskBit | 126] + bigEndian(UInt64(payload.count), width: 2)
    default: bytes += [maskBit | 127] + bigEndian(UInt64(payload.count), width: 8)
    }
    guard let mask else { return bytes + payload }
    let key = bigEndian(UInt64(mask), width: 4)
    bytes += key
    for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index % 4]) }
    return bytes
}

/// A frame whose payload is text.
package func rawFrame(_ first: UInt8, text: String, mask: UInt32? = nil) -> [UInt8] {
    rawFrame(first, Array(text.utf8), mask: mask)
}

package func bigEndian(_ value: UInt64, width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (UInt64($0) * 8)) }
}
