import Testing

/// Which modules the files below a folder may import; whatever is not named is forbidden.
struct ImportRule: Sendable, CustomTestStringConvertible {
    /// Path from the package's root, ending in `/`.
    let folder: String
    let allowed: Set<String>

    var testDescription: String { folder }

    /// The findings in one file; none if the file lies elsewhere.
    func findings(in file: SourceText) -> [Finding] {
        guard file.path.hasPrefix(folder) else { return [] }
        return Self.imports(in: file).compactMap { line, module in
            if allowed.contains(module) { return nil }
            return Finding(path: file.path, line: line, message: "\(folder) must not import \(module)")
        }
    }

    /// Line number and module of every import, whatever attributes, access level or kind stand before the name.
    static func imports(in file: SourceText) -> [(line: Int, module: String)] {
        let pattern =
            #/(?:^|[\s;])import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?`?(?<module>\w+)/#
        return zip(1..., file.code).flatMap { line, code in
            code.matches(of: pattern).map { (line, String($0.output.module)) }
        }
    }
}
