/// The three forms of dates in HTTP (RFC 9110 §5.6.7), of which only the first is written today.
extension WallTime {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///
    /// Two digits of a year mean one that is at most 50 years after `now`. A leap second counts as the one before.
    init?(httpDate text: String, now: WallTime) {
        let words = text.split(separator: " ").map(String.init)
        let date: (year: String, month: String, day: String)
        let time: String
        switch words.count {
        case 6 where WallTime.isDay(words[0], of: WallTime.shortDays, comma: true) && words[5] == "GMT":
            date = (words[3], words[2], words[1])
            time = words[4]
        case 5 where WallTime.isDay(words[0], of: WallTime.shortDays, comma: false):
            date = (words[4], words[1], words[2].count == 1 ? "0" + words[2] : words[2])
            time = words[3]
        case 4 where WallTime.isDay(words[0], of: WallTime.longDays, comma: true) && words[3] == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let year = WallTime.fullYear(parts[2], now: now) else { return nil }
            date = (year, parts[1], parts[0])
            time = words[2]
        default: return nil
        }
        guard let month = WallTime.months.firstIndex(of: date.month),
            let year = WallTime.number(date.year, digits: 4), let day = WallTime.number(date.day, digits: 2),
            let civil = CivilDate(year: year, month: Int64(month) + 1, day: day),
            let seconds = WallTime.seconds(time)
        else { return nil }
        self.init(millisecondsSince1970: (civil.daysSince1970 * 86_400 + seconds) * 1000)
    }

    private static let shortDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The name alone: whether it is the right one for the date does not matter.
    private static func isDay(_ word: String, of days: [String], comma: Bool) -> Bool {
        comma ? word.last == "," && days.contains(String(word.dropLast())) : days.contains(word)
    }

    private static func fullYear(_ text: String, now: WallTime) -> String? {
        guard let short = number(text, digits: 2) else { return nil }
        let days = Int64((Double(now.millisecondsSince1970) / 86_400_000).rounded(.down))
        let current = CivilDate(daysSince1970: days).year
        let year = current - current % 100 + short
        // Written as four digits, which is what the year of any clock has.
        let nearest = year > current + 50 ? year - 100 : year <= current - 50 ? year + 100 : year
        return String(nearest)
    }

    /// The seconds of `hh:mm:ss` since midnight.
    private static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map {
            number(String($0), digits: 2)
        }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2],
            hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + min(second, 59)
    }

    private static func number(_ text: String, digits: Int) -> Int64? {
        guard text.utf8.count == digits,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
