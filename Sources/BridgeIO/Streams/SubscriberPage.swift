/// Bytes that wait for one subscriber alone.
///
/// An object of its own, since most subscribers have none most of the time.
final class SubscriberPage {
    private(set) var bytes: ArraySlice<UInt8>
    /// A large page behind it, whose bytes others share: added to it they would be copied.
    private var next: ArraySlice<UInt8> = []
    /// How many records of the log came into it.
    private(set) var records: Int

    init(_ bytes: ArraySlice<UInt8>, records: Int) {
        self.bytes = bytes
        self.records = records
    }

    func append(_ more: ArraySlice<UInt8>, records: Int) {
        if !next.isEmpty {
            next.append(contentsOf: more)
        } else if more.count > Feed.largeBytes {
            next = more
        } else {
            bytes.append(contentsOf: more)
        }
        self.records += records
    }

    /// So many of the bytes are on their way.
    func advance(_ count: Int) {
        bytes = bytes.dropFirst(count)
        guard bytes.isEmpty else { return }
        bytes = next
        // Also lets go of the memory behind an empty slice.
        next = []
    }
}
