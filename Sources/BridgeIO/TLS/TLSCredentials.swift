package import BridgeCore

/// What connections with the same settings of TLS have in common: the context, kept up to date with its files.
///
/// Each dial looks whether the files have changed. What was read last stays in use while they cannot be read: a
/// file that is being replaced, or was replaced by nonsense, takes no connection down.
package final class TLSCredentials {
    private let settings: TLSSettings
    private var loaded: (context: TLSContext, files: [FileIdentity?])?
    /// The files whose content cannot be used, once that was told.
    private var refused: [FileIdentity?]?

    private init(_ settings: TLSSettings) {
        self.settings = settings
    }

    /// What was read is not what the files hold now.
    package var isOutdated: Bool {
        guard let loaded else { return false }
        return loaded.files != settings.fileIdentities
    }

    /// The context for a dial now; `complain` hears, once, of files that cannot be used in its place.
    func context(complain: (String) -> Void = { _ in }) throws(TLSFailure) -> TLSContext {
        // Before they are read: a change meanwhile is seen the next time.
        let files = settings.fileIdentities
        if let loaded, loaded.files == files { return loaded.context }
        do throws(TLSFailure) {
            let context = try TLSContext(settings)
            loaded = (context, files)
            refused = nil
            return context
        } catch {
            guard let loaded else { throw error }
            if refused != files { complain(error.error) }
            refused = files
            return loaded.context
        }
    }

    // MARK: Sharing

    private struct WeakCredentials {
        weak var credentials: TLSCredentials?
    }

    private static var inUse: [TLSSettings: WeakCredentials] = [:]

    /// Those for `settings`, shared with all who have them while anybody does.
    package static func shared(for settings: TLSSettings) -> TLSCredentials {
        if let credentials = inUse[settings]?.credentials { return credentials }
        let credentials = TLSCredentials(settings)
        inUse = inUse.filter { $0.value.credentials != nil }
        inUse[settings] = WeakCredentials(credentials: credentials)
        return credentials
    }
}

extension TLSContext {
    /// The context for `settings` at this moment.
    @MainActor static func shared(for settings: TLSSettings) throws(TLSFailure) -> TLSContext {
        try TLSCredentials.shared(for: settings).context()
    }
}
