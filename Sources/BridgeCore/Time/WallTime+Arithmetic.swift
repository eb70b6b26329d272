extension WallTime {
    /// The moment `duration` after this one, to the millisecond; far-away ends saturate.
    package static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.millisecondsSince1970.addingReportingOverflow(duration.milliseconds)
        guard overflow else { return WallTime(millisecondsSince1970: sum) }
        return WallTime(millisecondsSince1970: duration > .zero ? .max : .min)
    }

    /// The moment `duration` before this one, to the millisecond; far-away ends saturate.
    package static func - (time: WallTime, duration: Duration) -> WallTime {
        let (difference, overflow) = time.millisecondsSince1970.subtractingReportingOverflow(
            duration.milliseconds
        )
        guard overflow else { return WallTime(millisecondsSince1970: difference) }
        return WallTime(millisecondsSince1970: duration > .zero ? .min : .max)
    }
}
