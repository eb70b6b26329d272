/// What the process ends with: 0, or what `sysexits.h` has for the reason; 1 where only yes or no was asked.
package enum ExitCode: Int32, CaseIterable, Sendable {
    /// It was asked to stop.
    case clean = 0
    /// The bridge refused what a command asked for, or is not alive (`health`).
    case refused = 1
    /// The command line is wrong.
    case usage = 64
    /// A file that was named cannot be read.
    case unreadableFile = 66
    /// No bridge answers.
    case unavailable = 69
    /// A bug, or a machine that does not give what is needed.
    case internalError = 70
    /// The address cannot be listened on.
    case cannotBind = 71
    /// The store is damaged, in use or not writable.
    case storeUnusable = 74
    /// Standard output cannot be written, or standard input not be read.
    package static let streamUnusable = storeUnusable
    /// The configuration is wrong, or would leave the bridge open to everyone.
    case configuration = 78
}
