extension LogRecord {
    /// What a reload of the configuration changed; a warning if something has to wait.
    package init(_ change: ConfigurationChange) {
        guard !change.isEmpty else {
            self.init(.info, "reloaded: nothing has changed")
            return
        }
        let needsRestart = !change.awaitingRestart.isEmpty
        var fields: LogFields = [:]
        let lists: [(StaticString, [String])] = [
            ("added", change.added), ("replaced", change.replaced), ("removed", change.removed),
            ("certificates", change.renewed), ("settings", change.settings),
            ("needsRestart", change.awaitingRestart),
        ]
        for (name, values) in lists where !values.isEmpty {
            fields.append(name, .text(values.joined(separator: ", ")))
        }
        self.init(
            needsRestart ? .warning : .info,
            needsRestart ? "reloaded, but some settings need a restart" : "reloaded",
            fields
        )
    }
}
