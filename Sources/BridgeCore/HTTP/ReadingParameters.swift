/// The readers of the parameters that streams and polling share.
///
/// All throw `invalid-parameter` (400).
enum ReadingParameters {
    /// Where to begin, as far as that can be told without a clock.
    enum Start: Equatable {
        case position(StartPosition)
        case ago(Duration)

        func position(at now: WallTime) -> StartPosition {
            switch self {
            case .position(let position): position
            case .ago(let duration): .since(now - duration)
            }
        }
    }

    static func start(since text: String) throws(Problem) -> Start {
        if let position = StartPosition(since: text) { return .position(position) }
        do throws(MalformedValue) {
            return .ago(try Duration(text: text))
        } catch {
            throw .invalidParameter(
                "since",
                "it must be an event's id, `start`, `now`, a duration such as 10m or a time such as "
                    + "2026-11-30T08:00:00Z (in a query a + is written %2B)"
            )
        }
    }

    static func types(_ list: String) throws(Problem) -> RecordTypes {
        guard let types = RecordTypes(list: list) else {
            throw .invalidParameter("types", "it must list some of text, binary and status, joined by commas")
        }
        return types
    }

    static func count(_ name: String, _ text: String, _ range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let count = Int(digits: text), range.contains(count) else {
            let bound = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
            throw .invalidParameter(name, "it must be a whole number of at least \(range.lowerBound)\(bound)")
        }
        return count
    }

    static func duration(
        _ name: String,
        _ text: String,
        _ range: ClosedRange<Duration>
    ) throws(Problem) -> Duration {
        guard let duration = try? Duration(text: text), range.contains(duration) else {
            let least = range.lowerBound > .zero ? " of at least \(range.lowerBound.text)" : ""
            let most = range.upperBound < .longestWritten ? " of at most \(range.upperBound.text)" : ""
            throw .invalidParameter(name, "it must be a duration\(least)\(most), such as 10s")
        }
        return duration
    }

    /// One of the words of an enumeration.
    static func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        _ text: String
    ) throws(Problem) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw .invalidParameter(name, "it must be one of \(words)")
        }
        return word
    }
}
