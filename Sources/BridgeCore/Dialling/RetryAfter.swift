package import WebSocketProtocol

extension RetryAfterField {
    /// How long the peer wants to be left alone; nil if the field is neither seconds nor a date.
    ///
    /// A date is counted from the peer's own `Date` where it sent one, so that a clock that is wrong here, as that of
    /// a small machine without a battery, does no harm. One in the past asks for nothing.
    package func delay(at now: WallTime) -> Duration? {
        // No date is longer.
        guard value.utf8.count <= 40 else {
            return value.utf8.allSatisfy(\.isDigit) ? .seconds(Int32.max) : nil
        }
        if !value.isEmpty, value.utf8.allSatisfy(\.isDigit) {
            // So that it can be reckoned with; how long a server may make its client wait is for `Backoff` to say.
            return .seconds(min(Int64(value) ?? .max, Int64(Int32.max)))
        }
        guard let until = WallTime(httpDate: value, now: now) else { return nil }
        let start = date.flatMap { WallTime(httpDate: $0, now: now) } ?? now
        return .milliseconds(max(until.millisecondsSince1970 - start.millisecondsSince1970, 0))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
