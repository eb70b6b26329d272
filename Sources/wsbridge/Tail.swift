internal import BridgeCore
internal import BridgeIO

/// Follows a stream on stdout, over every interruption, until nobody reads it any more.
final class Tail {
    private let order: TailOrder
    private let client: HTTPClient
    private var cursor: TailCursor
    /// Before coming back; the bridge may say otherwise.
    private var pause = Duration.seconds(2)
    private var wasOpen = false
    /// The interruption has been told.
    private var isInterrupted = false

    /// For the head of an answer.
    private static let patience = Duration.seconds(10)
    /// The longest pause, whatever the bridge says.
    private static let longestPause = Duration.seconds(60)

    init(_ order: TailOrder) {
        self.order = order
        client = HTTPClient(order.endpoint, output: Machine.output)
        cursor = TailCursor(order.start)
    }

    func run() -> ExitCode {
        Machine.endCleanlyWhenInterrupted()
        while true {
            do throws(ClientFailure) {
                if let code = try follow() { return code }
                interrupted("the stream ended")
            } catch {
                switch error {
                case .outputClosed: return .clean
                case .unreachable, .interrupted:
                    let text = error.text(at: order.endpoint.address)
                    guard wasOpen else {
                        Machine.complain("wsbridge: \(text)")
                        return .unavailable
                    }
                    interrupted(text)
                }
            }
            client.close()
            guard Machine.pause(min(pause, Tail.longestPause)) else { return .clean }
        }
    }

    /// Tells once that the stream is interrupted.
    private func interrupted(_ reason: String) {
        if !isInterrupted { Machine.complain("wsbridge: \(reason); trying again") }
        isInterrupted = true
    }

    /// Prints one stream to its end; returns how the command ends, if it does.
    private func follow() throws(ClientFailure) -> ExitCode? {
        let time = WallTime.now
        let reply = try client.begin(order.request(cursor), within: Tail.patience)
        guard reply.status == 200 else { return try refused(reply) }
        cursor.opened(at: time)
        wasOpen = true
        isInterrupted = false
        var reader = EventStreamReader(lastID: cursor.lastID)
        while let piece = try client.next(within: nil) {
            do throws(EventStreamReader.TooLarge) {
                for event in try reader.read(piece) {
                    guard show(event) else { return Machine.endOfOutput() }
                    cursor.lastID = event.id
                }
            } catch {
                Machine.complain("wsbridge: an event has more than \(ByteSize(bytes: error.limit).text)")
                return .refused
            }
            cursor.lastID = reader.lastID
            if let retry = reader.retry { pause = .milliseconds(retry) }
        }
        return nil
    }

    /// Returns nil if it may help to ask again.
    private func refused(_ reply: HTTPReply) throws(ClientFailure) -> ExitCode? {
        let body = try client.body(most: Refusal.bodyLimit, within: Tail.patience)
        let refusal = Refusal(status: reply.status, body: body)
        guard wasOpen, refusal.isPassing else {
            Machine.complain("wsbridge: refused: \(refusal.text)")
            return .refused
        }
        if let text = reply.value(of: "retry-after"), let seconds = Int(digits: text) {
            pause = max(pause, .seconds(seconds))
        }
        interrupted("refused: \(refusal.text)")
        return nil
    }

    /// Prints an event; returns whether that could be done.
    private func show(_ event: EventStreamReader.Event) -> Bool {
        let output = TailOutput(event, as: order.format)
        if let notice = output.notice { Machine.complain("wsbridge: \(notice)") }
        return output.bytes.isEmpty || Machine.put(output.bytes)
    }
}
