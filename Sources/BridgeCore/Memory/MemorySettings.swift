/// What the configuration says under `memory`.
package struct MemorySettings: Equatable, Sendable {
    /// What histories, outboxes and streams may hold together; nil: half of what the process may use.
    package var maxBytes: Int?

    package init(maxBytes: Int? = nil) {
        self.maxBytes = maxBytes
    }
}
