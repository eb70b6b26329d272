/// What pages promise: commands that exist and links that lead somewhere.
enum PageRule {
    /// The lines inside blocks that are fenced as `sh`, with their numbers.
    static func shellLines(in page: SourceText) -> [(line: Int, text: String)] {
        var inside = false
        return zip(1..., page.lines).filter { _, text in
            if text.hasPrefix("```") {
                inside = !inside && text.hasPrefix("```sh")
                return false
            }
            return inside
        }
    }

    /// The make targets that a page tells the reader to run and the Makefile does not have.
    static func unknownTargets(in page: SourceText, makefile: SourceText) -> [Finding] {
        let targets = Set(makefile.lines.compactMap { $0.prefixMatch(of: #/([a-z-]+):/#)?.output.1 })
        return shellLines(in: page).flatMap { line, text in
            text.matches(of: #/(?:^|[;&]\s*)make((?:\s+[a-z-]+)+)/#)
                .flatMap { $0.output.1.split(separator: " ") }
                .filter { !targets.contains($0) }
                .map { Finding(path: page.path, line: line, message: "there is no make target \($0)") }
        }
    }

    /// The relative links of a page whose file is not there.
    static func deadLinks(in page: SourceText, exists: (String) -> Bool) -> [Finding] {
        let folder = page.path.split(separator: "/").dropLast()
        return zip(1..., page.lines).flatMap { line, text in
            text.matches(of: #/\]\(([^)#\s]+)(?:#[^)]*)?\)/#)
                .map(\.output.1)
                .filter { !$0.contains(":") && !exists(resolve($0, from: folder)) }
                .map { Finding(path: page.path, line: line, message: "dead link \($0)") }
        }
    }

    private static func resolve(_ link: Substring, from folder: ArraySlice<Substring>) -> String {
        var parts = folder
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }
}
