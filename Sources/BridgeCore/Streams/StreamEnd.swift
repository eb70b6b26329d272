/// What ended an event stream.
package enum StreamEnd: String, CaseIterable, Sendable {
    /// Its client closed it.
    case left
    /// Its client does not answer any more.
    case vanished
    /// It got all that it was to get.
    case done
    /// The history outran it, and its client wanted to be disconnected then (`slow=disconnect`).
    case slow
    /// It stood still and held memory that others needed.
    case memory
    /// What was to come next is on disk, and could not be read.
    case storage
    /// The bridge stopped before it got everything.
    case stopped
}
