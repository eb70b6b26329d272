import FoundationEssentials
import PowerCut
import Synchronization

/// A disk that can be full, or fail, or lose its power; stores get it by its name.
@safe final class Disk: Sendable {
    let name = "power-cut-\(UUID().uuidString)"
    // C's own, which any thread may call; it goes with this object.
    private nonisolated(unsafe) let cut: OpaquePointer
    // Called by the thread that writes, while it is set.
    private let onCut = Mutex<(@Sendable () -> Void)?>(nil)

    init() throws {
        guard let cut = unsafe power_cut_create(name) else { throw CocoaError(.fileWriteUnknown) }
        unsafe self.cut = cut
    }

    deinit { unsafe power_cut_destroy(cut) }

    /// Bytes that files may still grow by; nil: any.
    func leave(room: Int64?) { unsafe power_cut_room(cut, room ?? -1) }

    func failSyncs(_ fail: Bool) { unsafe power_cut_fail_syncs(cut, fail ? 1 : 0) }

    /// These bytes of databases cannot be read; nil: all can.
    func spoil(_ bytes: Range<Int64>?) {
        unsafe power_cut_bad(cut, bytes?.lowerBound ?? 0, bytes?.upperBound ?? 0)
    }

    var syncs: Int { unsafe power_cut_syncs(cut) }

    /// What a power cut now could leave of the files, which were in `folder`.
    func cut(_ folder: StoreFolder, seed: UInt64) throws -> StoreFolder {
        let remains = try StoreFolder()
        guard unsafe power_cut_save(cut, remains.path, seed) == 0 else { throw CocoaError(.fileWriteUnknown) }
        try FileManager.default.copyItem(
            atPath: folder.path + "/wsbridge.lock",
            toPath: remains.path + "/wsbridge.lock"
        )
        return remains
    }

    /// Calls `action` in the middle of every so many writes, on the thread that writes.
    func every(_ operations: Int, _ action: @escaping @Sendable () -> Void) {
        onCut.withLock { $0 = action }
        // Unretained: `stop` comes before this object goes.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe power_cut_every(
            cut,
            operations,
            { context in
                guard let context = unsafe context else { return }
                let disk = unsafe Unmanaged<Disk>.fromOpaque(context).takeUnretainedValue()
                disk.onCut.withLock(\.self)?()
            },
            context
        )
    }

    func stop() {
        unsafe power_cut_every(cut, 0, nil, nil)
    }
}
