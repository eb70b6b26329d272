internal import Glibc

/// What stands at a path of the file system, not following a link: whatever replaces it later is another.
struct UnixPath {
    let isSocket: Bool
    private let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Nil if there is nothing.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.path = path
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        device = status.st_dev
        inode = status.st_ino
    }

    /// Removes it, unless something else stands there now.
    func remove() {
        guard let current = UnixPath(path), current.device == device, current.inode == inode else { return }
        unsafe unlink(path)
    }
}
