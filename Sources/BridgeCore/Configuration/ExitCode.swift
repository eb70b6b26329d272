/// What the process ends with: 0, or what `sysexits.h` has for the reason.
package enum ExitCode: Int32, CaseIterable, Sendable {
    /// It was asked to stop.
    case clean = 0
    /// The command line is wrong.
    case usage = 64
    /// A file that was named cannot be read.
    case unreadableFile = 66
    /// A bug, or a machine that does not give what is needed.
    case internalError = 70
    /// The address cannot be listened on.
    case cannotBind = 71
    /// The store is damaged, in use or not writable.
    case storeUnusable = 74
    /// The configuration is wrong, or would leave the bridge open to everyone.
    case configuration = 78
}
