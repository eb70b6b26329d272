import FoundationEssentials

/// This package's files, found from where this one was compiled.
enum Project {
    /// The folder that holds `Package.swift`.
    static let root: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The product's Swift sources, read once.
    static let sources = Result { try files(below: "Sources", ending: ".swift") }

    /// The file at a path from the root.
    ///
    /// - Throws: when it is not there or not UTF-8.
    static func file(_ path: String) throws -> SourceText {
        SourceText(path: path, text: try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8))
    }

    /// Whether there is a file or folder at a path from the root.
    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(root)/\(path)")
    }

    /// All files below a folder whose name ends so, in order.
    ///
    /// - Throws: when the folder cannot be read.
    static func files(below folder: String, ending suffix: String) throws -> [SourceText] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").sorted()
            .filter { $0.hasSuffix(suffix) }
            .map { try file("\(folder)/\($0)") }
    }

    /// The hand-written pages: those at the root, and all below `docs`.
    ///
    /// - Throws: when a folder or page cannot be read.
    static func pages() throws -> [SourceText] {
        let top = try FileManager.default.contentsOfDirectory(atPath: root).sorted()
            .filter { $0.hasSuffix(".md") }
            .map { try file($0) }
        return try top + files(below: "docs", ending: ".md")
    }
}
