/// Counts the ends of a connection by their codes.
///
/// What a standard names always has a place of its own. Of the codes that an upstream makes up there is room for some, and
/// the rest counts together, so that no upstream can make up thousands of series.
package struct CloseCodeTally: Equatable, Sendable {
    /// RFC 6455 §7.4.1 and the registry of IANA.
    private static let standard: ClosedRange<UInt16> = 1000...1015
    private static let mostOthers = 16

    private var counts: [UInt16: Int] = [:]
    private var others = 0
    /// Those that have no place of their own.
    private var rest = 0

    package init() {}

    package mutating func closed(_ code: UInt16) {
        if counts[code] == nil, !CloseCodeTally.standard.contains(code) {
            guard others < CloseCodeTally.mostOthers else {
                rest += 1
                return
            }
            others += 1
        }
        counts[code, default: 0] += 1
    }

    /// The codes there were, in ascending order, and last `other` if some had no place.
    package var rows: [(code: String, count: Int)] {
        let known = counts.sorted { $0.key < $1.key }.map { (code: String($0.key), count: $0.value) }
        return known + (rest > 0 ? [("other", rest)] : [])
    }
}
