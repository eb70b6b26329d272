/// Bytes that wait for subscribers; those who are at the same record share them.
///
/// They are counted once, however many hold them, until the last one lets go.
final class HeldBytes {
    let bytes: [UInt8]
    private let total: MemoryTotal

    init(_ bytes: [UInt8], in total: MemoryTotal) {
        self.bytes = bytes
        self.total = total
        total.bytes += cost
    }

    isolated deinit { total.bytes -= cost }

    var cost: Int { bytes.capacity + HeldBytes.overhead }
    /// The objects around the bytes.
    private static let overhead = 192
}

/// How much all of one kind take of the process' memory.
final class MemoryTotal {
    var bytes = 0
}
