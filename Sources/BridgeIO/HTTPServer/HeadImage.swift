internal import Glibc

/// A request's head in one piece, so that it is recognised when it comes again: heads have equal images if they
/// are equal byte for byte and come from the same address, and never else.
///
/// Images are hashed with the process's own secret before they are compared, so the time that a search takes
/// does not tell how much of a token in them was right.
nonisolated struct HeadImage: Hashable, Sendable {
    private var bytes: [UInt8] = []

    var count: Int { bytes.count }

    /// Makes room for another head, and keeps the memory.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds the next part of the head, with its length: the same bytes cut elsewhere are another head.
    mutating func append(_ part: UnsafeRawBufferPointer) {
        unsafe withUnsafeBytes(of: part.count) { unsafe bytes.append(contentsOf: $0) }
        unsafe bytes.append(contentsOf: part)
    }

    static func == (left: HeadImage, right: HeadImage) -> Bool {
        guard left.bytes.count == right.bytes.count else { return false }
        return unsafe left.bytes.withUnsafeBytes { left in
            unsafe right.bytes.withUnsafeBytes { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return true }
                // As many bytes on either side.
                return unsafe memcmp(one, other, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        // An array would be hashed byte by byte.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}
