internal import Glibc

/// The directory of a store, which one process has at a time.
///
/// Beside the database there is a file whose lock tells others that the directory is taken, and whose text names who
/// has it, and which database was there last.
final class StoreDirectory {
    /// Where the database is.
    let database: String
    private let lockPath: String
    private let descriptor: CInt

    /// What the lock file says.
    struct Note: Equatable {
        var process: Int32
        /// Which database was there last; several while its mark is being changed, none if it is not known.
        var marks: [String]
    }

    /// Makes the directory, its parents and the files if they are not there, for this user alone, and takes it.
    init(_ path: String) throws(StorageError) {
        let folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        database = StoreDirectory.database(in: path)
        lockPath = folder + "/wsbridge.lock"
        try StoreDirectory.make(folder)
        descriptor = try StoreDirectory.open(lockPath)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            let holder = note?.process
            close(descriptor)
            guard error == EWOULDBLOCK else { throw StoreDirectory.failure(error, lockPath) }
            throw StorageError(.inUse(process: holder), path: folder)
        }
        // SQLite takes an empty file for a new database; made here, nobody else can ever read it.
        do throws(StorageError) {
            try makeDatabase()
        } catch {
            close(descriptor)
            throw error
        }
    }

    private func makeDatabase() throws(StorageError) {
        let made = unsafe Glibc.open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 {
            close(made)
            // What was there last is of no use to what is made now.
            guard ftruncate(descriptor, 0) == 0 else { throw StoreDirectory.failure(errno, lockPath) }
            return
        }
        guard errno == EEXIST else { throw StoreDirectory.failure(errno, database) }
        let found = try StoreDirectory.open(database)
        defer { close(found) }
        if note?.marks.isEmpty == false, lseek(found, 0, SEEK_END) == 0 {
            throw StorageError(.damaged, path: database, detail: "it is empty and was not before")
        }
    }

    /// Where the database of a directory is.
    static func database(in path: String) -> String {
        path + (path.hasSuffix("/") ? "" : "/") + "wsbridge.db"
    }

    /// The lock goes with the descriptor, however the process ends.
    deinit {
        // A child process that is only just being made has a copy, which would hold the lock for a moment longer.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// What the lock file says; nil if nothing that can be understood.
    var note: Note? {
        var bytes = [UInt8](repeating: 0, count: StoreDirectory.noteBytes)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
        guard let process = lines.first.flatMap({ Int32($0) }) else { return nil }
        return Note(process: process, marks: lines.dropFirst().map(String.init))
    }

    /// Says who has the directory and which database this is, safe from a power cut.
    func write(marks: [String]) throws(StorageError) {
        var bytes = Array(([String(getpid())] + marks).joined(separator: "\n").utf8)
        // One write of always the same size, so that whoever is killed leaves either this or what was there before.
        bytes += [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, StoreDirectory.noteBytes - bytes.count))
        let isWritten = unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        guard isWritten, fsync(descriptor) == 0 else { throw StoreDirectory.failure(errno, lockPath) }
    }

    private static let noteBytes = 256

    /// Makes the names of the files safe from a power cut.
    func sync() throws(StorageError) {
        let folder = String(database.dropLast("/wsbridge.db".count))
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StoreDirectory.failure(errno, folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw StoreDirectory.failure(errno, folder) }
    }

    private static func make(_ folder: String) throws(StorageError) {
        guard unsafe mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else {
            throw failure(errno, folder)
        }
        try make(String(folder[..<slash]))
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw failure(errno, folder) }
    }

    private static func open(_ path: String) throws(StorageError) -> CInt {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(errno, path) }
        return descriptor
    }

    private static func failure(_ error: CInt, _ path: String) -> StorageError {
        StorageError(StorageError.reason(error), path: path, detail: SystemError.text(error))
    }
}
