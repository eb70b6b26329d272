/// Everything that can be configured; the defaults stand in the sections.
package struct BridgeConfiguration: Equatable, Sendable {
    package var http = HTTPSettings()
    package var log = LogSettings()
    package var memory = MemorySettings()
    package var storage = StorageSettings()
    package var history = HistoryLimits()
    /// By name.
    package var connections: [String: ConnectionConfiguration] = [:]
    /// The files of the presets that connections begin with, by the names of those; for people.
    package var presets: [String: String] = [:]
    /// For connections that name no proxy of their own.
    package var proxies = EnvironmentProxies()

    /// How streams of HTTP/1.1 are written at best; another one than the best is for diagnosis.
    package var streamMode = StreamMode.detached

    package init() {}

    /// More would not fit into the event log.
    package static let mostConnections = 10_000
}
