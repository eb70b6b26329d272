/// Who writes an event stream of HTTP/1.1, and on whose socket; the best first.
package enum StreamMode: String, CaseIterable, Sendable {
    /// The owner, on a socket of its own: the HTTP library has let go of the connection.
    case detached
    /// The owner, on the socket of a connection that is suspended in the HTTP library.
    case suspended
    /// The HTTP library, which asks the owner for bytes.
    case pulled

    /// This one and those to fall back to, in order.
    package var fallbacks: ArraySlice<StreamMode> {
        StreamMode.allCases[(StreamMode.allCases.firstIndex(of: self) ?? 0)...]
    }
}
