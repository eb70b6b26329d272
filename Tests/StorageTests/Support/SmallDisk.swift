import FoundationEssentials
import PowerCut

/// A small file system in memory, which only root can make.
final class SmallDisk {
    let folder: StoreFolder

    init(bytes: Int) throws {
        folder = try StoreFolder()
        try mount(bytes, isThere: false)
    }

    deinit { unsafe small_disk_unmount(folder.path) }

    func resize(bytes: Int) throws {
        try mount(bytes, isThere: true)
    }

    private func mount(_ bytes: Int, isThere: Bool) throws {
        guard unsafe small_disk_mount(folder.path, bytes, isThere ? 1 : 0) == 0 else {
            throw CocoaError(.fileWriteNoPermission)
        }
    }
}
