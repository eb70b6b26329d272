/// A request's head in one piece, so that it is recognised when it comes again: heads have equal images if they
/// are equal byte for byte and come from the same address, and never else.
nonisolated struct HeadImage: Hashable, Sendable {
    fileprivate let bytes: [UInt8]

    func hash(into hasher: inout Hasher) {
        // An array would be hashed byte by byte.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}

/// Where the image of one head after another is drawn.
///
/// Images are hashed with the process's own secret before they are looked up, and compared with one another in the
/// time that their length takes, so neither tells how much of a token in a head was right.
@safe nonisolated final class HeadCanvas {
    /// Longer heads, which are those of browsers with many cookies, are not remembered.
    private static let longestImage = 1024

    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: longestImage, alignment: 8)
    private var count = 0
    /// There was no room for some part.
    private var isCut = false

    deinit {
        unsafe memory.deallocate()
    }

    /// Makes room for another head.
    func clear() {
        count = 0
        isCut = false
    }

    /// Adds the next part of the head, with its length: the same bytes cut elsewhere are another head.
    func append(_ part: UnsafeRawBufferPointer) {
        let start = count + MemoryLayout<Int>.size
        guard !isCut, unsafe part.count <= memory.count - start else {
            isCut = true
            return
        }
        unsafe memory.storeBytes(of: part.count, toByteOffset: count, as: Int.self)
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: part)
        count = start + part.count
    }

    /// What was drawn; nil if it is too long.
    var image: HeadImage? {
        isCut ? nil : HeadImage(bytes: unsafe Array(memory[..<count]))
    }

    /// Whether this is what was drawn.
    func shows(_ image: HeadImage) -> Bool {
        guard !isCut, image.bytes.count == count else { return false }
        return unsafe image.bytes.withUnsafeBytes { bytes in
            var difference: UInt64 = 0
            var index = 0
            // Each load lies within both by the condition.
            while index &+ 8 <= count {
                difference |=
                    unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    ^ memory.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                index &+= 8
            }
            while index < count {
                difference |= unsafe UInt64(bytes[index] ^ memory[index])
                index &+= 1
            }
            return difference == 0
        }
    }
}
