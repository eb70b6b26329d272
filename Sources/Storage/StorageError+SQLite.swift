internal import CSQLite
internal import Glibc

extension StorageError {
    /// What an extended result code of SQLite means; `systemError` is the last `errno` it met.
    init(code: CInt, systemError: CInt, path: String) {
        let said = unsafe String(cString: sqlite3_errstr(code))
        let system = systemError == 0 ? "" : ": " + SystemError.text(systemError)
        self.init(StorageError.reason(code, systemError), path: path, detail: said + system)
    }

    private static func reason(_ code: CInt, _ systemError: CInt) -> Reason {
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .inUse(process: nil)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .notWritable
        case SQLITE_CANTOPEN, SQLITE_IOERR: reason(systemError)
        default: .failing
        }
    }

    /// What an `errno` means.
    static func reason(_ systemError: CInt) -> Reason {
        switch systemError {
        case ENOSPC, EDQUOT: .full
        case EACCES, EPERM, EROFS, EISDIR, ENOTDIR, ENOENT: .notWritable
        default: .failing
        }
    }
}

/// Errors of the system, in words.
enum SystemError {
    static func text(_ error: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        _ = unsafe strerror_r(error, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
