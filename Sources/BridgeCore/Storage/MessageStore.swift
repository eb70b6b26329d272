/// Where the messages of one connection outlive the process; used on the loop alone.
@MainActor package protocol MessageStore: AnyObject {
    /// Offers the messages of a request, with its key; later, in the order of the calls, `completion` is told
    /// whether they are safe on disk.
    ///
    /// Throws `unstorable` where that is known to be in vain.
    func offer(
        _ messages: [StoredMessage],
        key: StoredKey?,
        completion: @escaping (Bool) -> Void
    ) throws(OutboxError)

    /// A message that was stored, or is about to be, came to its end.
    func ended(_ number: UInt64, as state: MessageState)
}
