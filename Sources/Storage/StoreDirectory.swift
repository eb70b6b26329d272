internal import Glibc

/// The directory of a store, which one process has at a time.
///
/// Beside the database there is a file whose lock tells others that the directory is taken, and whose text names who
/// has it, and which database was there last.
final class StoreDirectory {
    /// Where the database is.
    let database: String
    private let lockPath: String
    private var descriptor: CInt
    /// The file of the lock that is held.
    private var identity: FileIdentity?
    /// What this process has written.
    private(set) var written = Note(process: getpid(), marks: [])
    /// What was there before anything was made.
    let remains: StoreRemains

    /// What the lock file says: a line with the process, one for each mark, and then words with a colon in front.
    struct Note: Equatable {
        var process: Int32
        /// Which database was there last; several while its mark is being changed, none if it is not known.
        var marks: [String]
        /// Records may have been shown that are not in the database, nor known there to be missing.
        var hasUnstored = false
    }

    /// Makes the directory, its parents and the files if they are not there, for this user alone, and takes it.
    init(_ path: String) throws(StorageError) {
        let folder = path.count > 1 ? StoreDirectory.folder(path) : path
        database = StoreDirectory.database(in: path)
        lockPath = StoreDirectory.lock(in: path)
        try StoreDirectory.make(folder)
        descriptor = try StoreDirectory.lock(lockPath, in: folder)
        identity = FileIdentity(of: descriptor)
        remains = StoreRemains(of: database, Note(of: descriptor))
        do throws(StorageError) {
            try makeDatabase()
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// SQLite takes an empty file for a new database; made here, nobody else can ever read it.
    private func makeDatabase() throws(StorageError) {
        try remains.check()
        let made = unsafe Glibc.open(database, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if made >= 0 {
            close(made)
            // What was there last is of no use to what is made now.
            guard ftruncate(descriptor, 0) == 0 else { throw StoreDirectory.failure(errno, lockPath) }
            return
        }
        guard errno == EEXIST else { throw StoreDirectory.failure(errno, database) }
        close(try StoreDirectory.open(database))
    }

    /// Where the database of a directory is.
    static func database(in path: String) -> String { folder(path) + "/wsbridge.db" }

    /// Where the lock file of a directory is.
    static func lock(in path: String) -> String { folder(path) + "/wsbridge.lock" }

    private static func folder(_ path: String) -> String {
        path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// The lock goes with the descriptor, however the process ends.
    deinit {
        // A child process that is only just being made has a copy, which would hold the lock for a moment longer.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// What the lock file says; nil if nothing that can be understood.
    var note: Note? { Note(of: descriptor) }

    /// Says who has the directory and which database this is, safe from a power cut.
    func write(marks: [String], hasUnstored: Bool = false) throws(StorageError) {
        written = Note(process: getpid(), marks: marks, hasUnstored: hasUnstored)
        guard written.write(to: descriptor), fsync(descriptor) == 0 else {
            throw StoreDirectory.failure(errno, lockPath)
        }
    }

    /// Says whether records may have been shown that are not in the database; that survives a kill, not a power cut,
    /// which shows by itself.
    ///
    /// It needs no room on the disk. Where even that cannot be written it is tried again the next time.
    func note(hasUnstored: Bool) {
        guard written.hasUnstored != hasUnstored else { return }
        written.hasUnstored = hasUnstored
        if !written.write(to: descriptor) { written.hasUnstored.toggle() }
    }

    /// Sees to it that the lock still is where others look for it, and returns whether it had to be made again.
    ///
    /// - Throws: `inUse` if somebody else has it by now.
    func keepLock() throws(StorageError) -> Bool {
        let found = FileIdentity(at: lockPath)
        if found == identity, let found, found.size >= Note.bytes { return false }
        if found != identity {
            let folder = String(database.dropLast("/wsbridge.db".count))
            let new = try StoreDirectory.lock(lockPath, in: folder)
            close(descriptor)
            descriptor = new
            identity = FileIdentity(of: new)
        }
        guard written.write(to: descriptor), fsync(descriptor) == 0 else {
            throw StoreDirectory.failure(errno, lockPath)
        }
        try sync()
        return true
    }

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

    /// Opens a lock file and locks it.
    private static func lock(_ path: String, in folder: String) throws(StorageError) -> CInt {
        for _ in 0..<mostAttempts {
            let descriptor = try open(path)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let error = errno
                defer { close(descriptor) }
                guard error == EWOULDBLOCK else { throw failure(error, path) }
                throw StorageError(.inUse(process: Note(of: descriptor)?.process), path: folder)
            }
            // Whoever had it may have deleted it, or somebody else, before it was locked here.
            if FileIdentity(of: descriptor) == FileIdentity(at: path) { return descriptor }
            close(descriptor)
        }
        throw StorageError(
            .inUse(process: nil),
            path: folder,
            detail: "the lock file is replaced again and again"
        )
    }

    private static let mostAttempts = 100

    /// Opens a file of the directory for reading and writing; `flags` are more of `open`'s.
    static func open(_ path: String, _ flags: CInt = O_CREAT) throws(StorageError) -> CInt {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else { throw failure(errno, path) }
        return descriptor
    }

    static func failure(_ error: CInt, _ path: String) -> StorageError {
        StorageError(StorageError.reason(error), path: path, detail: SystemError.text(error))
    }
}

extension StoreDirectory.Note {
    /// How long a lock file is.
    fileprivate static let bytes: Int64 = 256
    private static let unstored = ":unstored"

    /// Nil if there is nothing that can be understood.
    init?(of descriptor: CInt) {
        var bytes = [UInt8](repeating: 0, count: Int(Self.bytes))
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
        guard let process = lines.first.flatMap({ Int32($0) }) else { return nil }
        self.process = process
        marks = lines.dropFirst().filter { !$0.hasPrefix(":") }.map(String.init)
        hasUnstored = lines.contains { $0 == Self.unstored }
    }

    /// Whether it succeeded.
    fileprivate func write(to descriptor: CInt) -> Bool {
        let lines = [String(process)] + marks + (hasUnstored ? [Self.unstored] : [])
        var text = Array(lines.joined(separator: "\n").utf8)
        // One write of always the same size, so that whoever is killed leaves either this or what was there before.
        text += [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, Int(Self.bytes) - text.count))
        return unsafe pwrite(descriptor, text, text.count, 0) == text.count
    }
}
