/// How requests find their replies: what the configuration says under `request`.
package struct RequestSettings: Equatable, Sendable {
    /// What is put where a request has no id.
    package enum ID: String, CaseIterable, Sendable {
        /// A random UUID (version 4).
        case uuid
        /// The next number on its socket, which counts the messages that have one, as `{{counter}}` does.
        case counter
    }

    /// Where request and reply have the same value; nil: each request says it.
    package var correlate: JSONPointer?
    package var id = ID.uuid

    package init() {}
}
