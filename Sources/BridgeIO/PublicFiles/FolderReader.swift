internal import BridgeCore
internal import Glibc

/// Reads a folder and those below it into memory, within the limits of `PublicFiles`.
///
/// Hidden files are left out, and whatever is neither a file nor a folder. It blocks, so it is for the start.
nonisolated struct FolderReader {
    /// What could not be read, and why.
    struct Failure: Error {
        var path: String
        var error: String
        /// There is no such folder.
        var isMissing = false
    }

    /// Also ends links that lead in a circle.
    private static let maxDepth = 8
    private static let chunkBytes = 64 * 1024

    private(set) var files = PublicFiles()

    init(_ folder: String) throws(Failure) {
        try read(folder, at: [])
    }

    private mutating func read(_ folder: String, at path: [String]) throws(Failure) {
        for name in try FolderReader.names(in: folder) where !name.hasPrefix(".") {
            let file = "\(folder)/\(name)"
            var facts = stat()
            guard unsafe stat(file, &facts) == 0 else { throw FolderReader.failure(file) }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR where path.count < FolderReader.maxDepth:
                try read(file, at: path + [name])
            case S_IFREG:
                let content = try FolderReader.content(of: file, atMost: files.bytesLeft)
                do throws(PublicFiles.Overflow) {
                    try files.add(path + [name], content)
                } catch {
                    throw Failure(path: file, error: error.rawValue)
                }
            default:
                break
            }
        }
    }

    /// In order, so that the same folder always gives the same outcome.
    private static func names(in folder: String) throws(Failure) -> [String] {
        guard let stream = unsafe opendir(folder) else { throw failure(folder) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            // No request can name what is not UTF-8.
            if let name { names.append(name) }
        }
        return names.sorted()
    }

    /// All of a file, or the first bytes of it, enough to show that it has more than `limit`.
    private static func content(of file: String, atMost limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(file) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        while content.count <= limit {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(file) }
            guard count > 0 else { break }
            content += chunk[..<count]
        }
        return content
    }

    private static func failure(_ path: String) -> Failure {
        let code = errno
        return unsafe Failure(path: path, error: String(cString: strerror(code)), isMissing: code == ENOENT)
    }
}
