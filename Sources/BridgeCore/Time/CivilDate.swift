/// A day of the proleptic Gregorian calendar.
struct CivilDate: Equatable {
    var year: Int64
    /// 1 to 12.
    var month: Int64
    /// 1 to 31.
    var day: Int64

    /// The date that is `days` days after 1970-01-01 (before it, if negative).
    ///
    /// The years are counted from March, so that the leap day is a year's last, in eras of 400 years,
    /// which all have the same length.
    init(daysSince1970 days: Int64) {
        let shifted = days + CivilDate.daysFromEraToEpoch
        let era = CivilDate.floorDivide(shifted, by: CivilDate.daysPerEra)
        let dayOfEra = shifted - era * CivilDate.daysPerEra
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Nil when there is no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard 1...12 ~= month, day >= 1, day <= CivilDate.days(inMonth: month, of: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The number of days from 1970-01-01 to this date.
    var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = CivilDate.floorDivide(marchYear, by: 400)
        let yearOfEra = marchYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * CivilDate.daysPerEra + dayOfEra - CivilDate.daysFromEraToEpoch
    }

    private static let daysPerEra: Int64 = 146_097
    /// From 0000-03-01, where an era starts, to 1970-01-01.
    private static let daysFromEraToEpoch: Int64 = 719_468

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
