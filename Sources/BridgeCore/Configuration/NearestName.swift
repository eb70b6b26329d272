/// Finds what somebody meant who misspelt a name.
enum NearestName {
    /// The one of `names` that takes the fewest edits to get to, if a third of its letters at most; a letter in the
    /// other case is none.
    static func of(_ word: String, among names: [String]) -> String? {
        let letters = Array(word.lowercased().utf8.prefix(64))
        var best: (name: String, edits: Int)?
        for name in names {
            let edits = edits(from: letters, to: Array(name.lowercased().utf8))
            if edits <= max(1, name.utf8.count / 3), edits < best?.edits ?? .max { best = (name, edits) }
        }
        return best?.name
    }

    /// The least number of letters inserted, removed, replaced or swapped with their neighbour.
    private static func edits(from source: [UInt8], to goal: [UInt8]) -> Int {
        var older: [Int] = []
        var last = Array(0...goal.count)
        for (row, letter) in source.enumerated() {
            var next = [row + 1]
            for (column, wanted) in goal.enumerated() {
                var least = min(
                    last[column] + (letter == wanted ? 0 : 1),
                    last[column + 1] + 1,
                    next[column] + 1
                )
                if row > 0, column > 0, letter == goal[column - 1], source[row - 1] == wanted {
                    least = min(least, older[column - 1] + 1)
                }
                next.append(least)
            }
            older = last
            last = next
        }
        return last[goal.count]
    }
}
