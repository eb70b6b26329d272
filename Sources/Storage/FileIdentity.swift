internal import Glibc

/// Tells a file from another one that comes to have its path.
struct FileIdentity: Equatable {
    private let device: UInt
    private let inode: UInt
    /// In bytes, at that moment.
    let size: Int64

    /// The file that has a path now; nil: there is none, or nobody may look.
    init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file that is open.
    init?(of descriptor: CInt) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int64(status.st_size)
    }

    /// It is the same file, however much is in it.
    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }
}
