internal import Glibc

/// What a directory holds for `wsbridge check`, which looks at it without making or changing anything.
package struct StoreInspection: Equatable, Sendable {
    /// A line for people.
    package let text: String

    /// - Throws: why no store could be opened there, as far as that can be told, or what is damaged in it.
    package init(of directory: String) throws(StorageError) {
        try Database.load(for: directory)
        let path = StoreDirectory.database(in: directory)
        let nearest = StoreInspection.nearest(directory)
        guard nearest.isItself else {
            // The dot finds out whether it is a folder.
            try StoreInspection.requireWritable(nearest.path + "/.", for: directory)
            text = "\(path): nothing yet"
            return
        }
        let note = try StoreInspection.note(in: directory)
        try StoreInspection.requireWritable(directory)
        let remains = StoreRemains(of: path, note)
        try remains.check()
        guard remains.databaseSize != nil else {
            text = "\(path): nothing yet"
            return
        }
        close(try StoreDirectory.open(path, 0))
        let database = try Database(path, .reading)
        let version = try Schema.current.knownVersion(of: database)
        guard version > 0 else {
            if remains.wasThere { throw remains.emptied }
            text = "\(path): nothing yet"
            return
        }
        try database.verify()
        let counts = try database.prepare(
            """
            SELECT count(*), (SELECT count(*) FROM outbox), coalesce(sum(records), 0)
            FROM connections WHERE removed = 0
            """
        )
        guard try counts.next() else { throw StorageError(.damaged, path: path) }
        text =
            "\(path): version \(version), connections: \(counts.integer(0)), messages to be sent: "
            + "\(counts.integer(1)), records: \(counts.integer(2))"
    }

    /// What the lock file says, which is opened as a start would; nil: nothing.
    private static func note(in directory: String) throws(StorageError) -> StoreDirectory.Note? {
        let path = StoreDirectory.lock(in: directory)
        guard unsafe access(path, F_OK) == 0 else {
            try requireWritable(directory + "/.", for: path)
            return nil
        }
        let descriptor = try StoreDirectory.open(path, 0)
        defer { close(descriptor) }
        return StoreDirectory.Note(of: descriptor)
    }

    /// What there is of a path: the folder itself, or the one in which it would be made.
    private static func nearest(_ folder: String) -> (path: String, isItself: Bool) {
        var nearest = folder
        var found = stat()
        // A link that leads nowhere is in the way of a folder.
        let isItself = unsafe lstat(nearest, &found) == 0
        while unsafe lstat(nearest, &found) != 0, errno == ENOENT {
            guard let slash = nearest.lastIndex(of: "/") else { return (".", false) }
            guard slash > nearest.startIndex else { return ("/", false) }
            nearest = String(nearest[..<slash])
        }
        return (nearest, isItself)
    }

    /// `name` is what the user is told of.
    private static func requireWritable(
        _ path: String,
        for name: String? = nil
    ) throws(StorageError) {
        guard unsafe access(path, R_OK | W_OK) != 0 else { return }
        let error = errno
        throw StorageError(StorageError.reason(error), path: name ?? path, detail: SystemError.text(error))
    }
}
