import FoundationEssentials
import Storage

/// A folder for a store, which goes with this object.
final class StoreFolder: Sendable {
    let path: String

    /// Makes it, unless it is for the store to make.
    init(exists: Bool = true) throws {
        path = FileManager.default.temporaryDirectory.path + "/wsbridge-store-\(UUID().uuidString)"
        if exists { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var database: String { path + "/wsbridge.db" }

    /// What would be there if the process were killed now, while the store is idle.
    func copy() throws -> StoreFolder {
        let copy = try StoreFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }

    /// Writes bytes over what is in a file.
    func damage(_ name: String = "wsbridge.db", at offset: UInt64, with bytes: [UInt8]) throws {
        var data = try Data(contentsOf: URL(filePath: path + "/" + name))
        data.replaceSubrange(Int(offset)..<Int(offset) + bytes.count, with: bytes)
        try data.write(to: URL(filePath: path + "/" + name))
    }

    func truncate(_ name: String = "wsbridge.db", to size: Int) throws {
        let data = try Data(contentsOf: URL(filePath: path + "/" + name))
        try data.prefix(size).write(to: URL(filePath: path + "/" + name))
    }
}

enum FileSize {
    static func of(_ path: String) throws -> Int {
        try Data(contentsOf: URL(filePath: path)).count
    }
}
