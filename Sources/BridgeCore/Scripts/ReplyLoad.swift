/// What rules have answered and the kernel has not taken yet.
///
/// None of these answers is left out, since each may be what the upstream waits for. A peer that asks without end and
/// does not read must not cost memory without end, so beyond a bound the connection is given up.
struct ReplyLoad: Sendable {
    static let mostReplies = 10_000
    static let mostBytes = 4 << 20

    private var count = 0
    private var bytes = 0

    var isTooMuch: Bool { count > ReplyLoad.mostReplies || bytes > ReplyLoad.mostBytes }

    mutating func sent(bytes: Int) {
        count += 1
        self.bytes += bytes
    }

    mutating func written(bytes: Int) {
        count -= 1
        self.bytes -= bytes
    }
}
