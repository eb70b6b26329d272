/// What outlives the process.
package struct StorageSettings: Equatable, Sendable {
    /// Where the store is; nil: everything stays in memory.
    package var directory: String?

    package init() {}
}
