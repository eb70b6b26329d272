internal import Glibc

/// What a directory holds for `wsbridge check`, which looks at it without making or changing anything.
package struct StoreInspection: Equatable, Sendable {
    /// A line for people.
    package let text: String

    /// - Throws: why no store could be opened there, as far as that can be told.
    package init(of directory: String) throws(StorageError) {
        let path = StoreDirectory.database(in: directory)
        guard unsafe access(path, F_OK) == 0 else {
            // The dot finds out whether it is a folder.
            try StoreInspection.requireWritable(StoreInspection.nearest(directory) + "/.", for: directory)
            text = "\(path): nothing yet"
            return
        }
        try StoreInspection.requireWritable(directory)
        try StoreInspection.requireWritable(path)
        let database = try Database(path, .reading)
        let version = try Schema.current.knownVersion(of: database)
        guard version > 0 else {
            text = "\(path): nothing yet"
            return
        }
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

    /// What there is of a path: the folder itself, or the one in which it would be made.
    private static func nearest(_ folder: String) -> String {
        var folder = folder
        while unsafe access(folder, F_OK) != 0, errno == ENOENT {
            guard let slash = folder.lastIndex(of: "/") else { return "." }
            guard slash > folder.startIndex else { return "/" }
            folder = String(folder[..<slash])
        }
        return folder
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
