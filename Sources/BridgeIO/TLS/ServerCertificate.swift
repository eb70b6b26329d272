package import BridgeCore

/// The certificate that clients are shown, kept up to date with its files.
///
/// Each client that comes has it looked whether the files have changed. What was read last stays in use while they
/// cannot be used: a file that is being replaced, or was replaced by nonsense, turns no client away.
package final class ServerCertificate {
    private var settings: ServerTLSSettings
    private var context: TLSContext
    private var files: [FileIdentity?]
    /// The files whose content cannot be used, once that was told.
    private var refused: [FileIdentity?]?

    /// Told why files that have changed are passed over, once for each of their states.
    package var onRefusal: (String) -> Void = { _ in }
    /// Told when other files are in use from now on, though nobody asked for that.
    package var onRenewal: () -> Void = {}

    /// Reads the files that `settings` name.
    package init(_ settings: ServerTLSSettings) throws(TLSFailure) {
        self.settings = settings
        files = settings.fileIdentities
        context = try TLSContext(serving: settings)
    }

    /// Whether clients that look will accept its dates.
    package var validity: CertificateValidity { context.validity }

    /// Reads the files of these settings if they, or their content, are others than those in use.
    ///
    /// - Returns: whether clients are shown something else from now on.
    package func update(to settings: ServerTLSSettings) throws(TLSFailure) -> Bool {
        // Before they are read: a change meanwhile is seen the next time.
        let identities = settings.fileIdentities
        guard settings != self.settings || identities != files else { return false }
        context = try TLSContext(serving: settings)
        self.settings = settings
        files = identities
        refused = nil
        return true
    }

    /// A session for a client that has just connected.
    func session() throws(TLSFailure) -> TLSSession {
        refresh()
        return try TLSSession(accepting: context)
    }

    private func refresh() {
        let identities = settings.fileIdentities
        guard identities != files, identities != refused else { return }
        do throws(TLSFailure) {
            if try update(to: settings) { onRenewal() }
        } catch {
            refused = identities
            onRefusal(error.error)
        }
    }
}
