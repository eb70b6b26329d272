internal import BridgeCore
internal import CUV
internal import Glibc

/// Finds the requests with which libmicrohttpd gets no further, and ends them.
///
/// A line of a chunked body (RFC 9112 §7.1) that is longer than the library's buffer is never at its end: the library
/// reads no more, and asks to be run again at once, for as long as the client is there.
struct StuckRequests {
    /// Runs one after the other in which the daemon had more to do, before that is thought strange.
    private static let manyRuns = 64
    /// Between two looks.
    private static let interval = Duration.milliseconds(100)
    /// Looks at which nothing had come of a request whose client has more to say.
    private static let looks = 3

    private var runs = 0
    private var nextLook = Instant(nanoseconds: .min)

    /// The daemon has run; it `goesOn` if it wants to run again without anything new.
    ///
    /// - Returns: whether to look for them.
    mutating func ran(goesOn: Bool, at now: Instant) -> Bool {
        runs = goesOn ? runs + 1 : 0
        guard runs >= StuckRequests.manyRuns, now >= nextLook else { return false }
        runs = 0
        nextLook = now + StuckRequests.interval
        return true
    }

    /// Those of the clients that have been stuck for some looks.
    static func among(_ clients: [ClientConnection]) -> [ClientConnection] {
        clients.filter { client in
            guard client.wait == .request, let exchange = client.exchange, exchange.isReceivingBody,
                client.waiting == .something
            else {
                client.standstill = nil
                return false
            }
            let before = client.standstill
            let sameAsBefore = before.map { $0.parts == exchange.parts } ?? false
            let count = sameAsBefore ? (before?.looks ?? 0) + 1 : 1
            client.standstill = (exchange.parts, count)
            return count >= looks
        }
    }
}

extension HTTPServer {
    func endStuckRequests() {
        for client in StuckRequests.among(deadlines.all) {
            client.standstill = nil
            guard let exchange = client.exchange, let response = exchange.stuckAnswer() else { continue }
            breakOff(exchange, with: response)
            // The daemon does not read any more, but it sees this.
            shutdown(client.descriptor, WSB_SHUT_RDWR)
        }
    }
}
