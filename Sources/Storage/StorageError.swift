/// Why the store cannot be used, now or at all.
///
/// It names files, and what the system said of them; never what is in them.
package struct StorageError: Error, Equatable, Sendable {
    /// Whose fault it is, which decides what helps.
    package enum Reason: Equatable, Sendable {
        /// What is in the file is not what was written.
        case damaged
        /// It is a file of another program.
        case foreign
        /// A newer version of this program has made it.
        case newer(version: Int, known: Int)
        /// Another process has it, whose id is known or not.
        case inUse(process: Int32?)
        /// The file system does not let it be written, or read.
        case notWritable
        /// There is no room left.
        case full
        /// It was moved or deleted while it was in use.
        case moved
        /// What was in its log was taken out by somebody while it was in use.
        case cut
        /// Reading, writing or syncing failed.
        case failing
        /// SQLite's library is not there, or cannot be used.
        case noLibrary
    }

    package var reason: Reason
    /// The file or folder.
    package var path: String
    /// What the system or SQLite said; empty: nothing.
    package var detail: String

    package init(_ reason: Reason, path: String, detail: String = "") {
        self.reason = reason
        self.path = path
        self.detail = detail
    }

    /// One sentence for people and logs, with what helps.
    package var text: String {
        let said = detail.isEmpty ? "" : " (\(detail))"
        return switch reason {
        case .damaged:
            "\(path) is damaged\(said); restore a backup, or to start without it, move it and its -wal file away"
        case .foreign: "\(path) was not made by wsbridge\(said); choose another directory, or move it away"
        case .newer(let version, let known):
            "\(path) has version \(version), and this program knows up to \(known); use the newer program"
        case .inUse(let process?): "\(path) is in use by process \(process)\(said)"
        case .inUse(nil): "\(path) is in use by another process\(said)"
        case .notWritable:
            "\(path) cannot be read and written\(said); let the user who runs the bridge write it and its directory"
        case .full: "there is no room left for \(path)\(said)"
        case .moved: "\(path) was moved or deleted while it was in use\(said)"
        case .cut: "\(path) was cut while it was in use\(said); nothing is stored until the next start"
        case .failing: "\(path) cannot be used\(said)"
        case .noLibrary:
            "SQLite cannot be loaded for \(path)\(said); install its library (Debian's package libsqlite3-0)"
        }
    }

    /// Trying again may help without anybody's doing something about this process.
    var mayPass: Bool {
        switch reason {
        case .inUse, .notWritable, .full, .moved, .failing: true
        case .damaged, .foreign, .newer, .cut, .noLibrary: false
        }
    }
}
