/// Where records outlive the process; used on the loop alone.
@MainActor package protocol RecordStore: AnyObject {
    /// Offers records; `completion` is told later, in the order of the calls, whether they are stored.
    func offer(records: some Sequence<StoredRecord>, completion: @escaping (Bool) -> Void) -> RecordOffer

    /// Has a fact stored by and by, after all that was offered before.
    func note(_ fact: StoreFact)

    /// Asks; `completion` gets the answer later, or nil if the records cannot be read.
    func ask(_ question: StoreQuestion, completion: @escaping (StoreAnswer?) -> Void)
}

/// What comes of offering records.
package enum RecordOffer: Equatable, Sendable {
    case taken
    /// Nothing can be stored at the moment.
    case refused
    /// So much waits that they have to be offered again.
    case later
}
