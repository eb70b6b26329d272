/// The files that everyone may fetch, all in memory: what is not among them is not served.
package struct PublicFiles: Equatable, Sendable {
    /// Why a file cannot be among them.
    package enum Overflow: String, Error {
        case count = "there are more than 64 files"
        case bytes = "the files have more than 4 MiB together"
    }

    package static let maxFiles = 64
    package static let maxBytes = 4 << 20
    /// What `/` shows.
    package static let front = "index.html"

    /// By the segments of their paths.
    private var files: [[String]: PublicFile] = [:]
    private var bytes = 0

    package init() {}

    /// How many bytes may still be added.
    package var bytesLeft: Int { PublicFiles.maxBytes - bytes }
    package var hasFront: Bool { files[[PublicFiles.front]] != nil }

    /// Adds a file at a path that is not taken.
    package mutating func add(_ path: [String], _ content: [UInt8]) throws(Overflow) {
        guard files.count < PublicFiles.maxFiles else { throw .count }
        guard content.count <= bytesLeft else { throw .bytes }
        files[path] = PublicFile(name: path.last ?? "", content: content)
        bytes += content.count
    }

    /// The file at a decoded path; the front page at none.
    package subscript(path: [String]) -> PublicFile? {
        files[path.isEmpty ? [PublicFiles.front] : path]
    }
}
