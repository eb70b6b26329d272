/// Who had to give because the memory for all was used up.
package enum MemoryShortage: Sendable {
    /// Histories: what was recorded first is gone.
    case histories
    /// Readers that stood still: they were disconnected.
    case readers
}
