/// An answer that sends the client elsewhere (RFC 9110 §15.4).
///
/// Printing it leaves the location out, which may hold a secret.
package struct RedirectAnswer: Equatable, Sendable {
    package var status: Int
    /// Nil if there is no `Location`, or more than one.
    package var location: String?

    /// The statuses that are followed.
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    package init(status: Int, location: String?) {
        self.status = status
        self.location = location
    }
}

extension RedirectAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "redirect with status \(status)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

/// When a peer wants to be asked again, in its own words (RFC 9110 §10.2.3).
package struct RetryAfterField: Equatable, Sendable {
    /// Seconds or a date.
    package var value: String
    /// The `Date` of the answer, by the peer's clock.
    package var date: String?

    package init(_ value: String, date: String? = nil) {
        self.value = value
        self.date = date
    }
}

extension HTTPHead {
    /// Nil unless there is just one.
    package var retryAfter: RetryAfterField? {
        onlyValue(of: "Retry-After").map { RetryAfterField($0, date: onlyValue(of: "Date")) }
    }
}
