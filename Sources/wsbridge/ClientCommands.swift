internal import BridgeCore
internal import BridgeIO

/// Says by the exit code whether the bridge is alive, within two seconds.
func runHealth(_ endpoint: BridgeEndpoint) -> ExitCode {
    // Whatever it waits for: a name server cannot be given a limit.
    Machine.endWhenTimeIsOver(seconds: 2)
    let client = HTTPClient(endpoint)
    do throws(ClientFailure) {
        // A little sooner, so that it can say more.
        let reply = try client.begin(.health, within: .milliseconds(1900))
        guard reply.status != 200 else { return .clean }
        let address = endpoint.address.text
        let body = try client.body(most: Refusal.bodyLimit, within: .milliseconds(1900))
        let said = Refusal(status: reply.status, body: body).text
        Machine.complain("wsbridge: the bridge at \(address) is not well: \(said)")
    } catch {
        Machine.complain("wsbridge: \(error.text(at: endpoint.address))")
    }
    return .refused
}

/// Sends one message, or the lines of stdin.
func runSend(_ order: SendOrder) -> ExitCode {
    let sender = MessageSender(order)
    guard let text = order.text else { return sender.sendLines() }
    return sender.send(Array(text.utf8), line: nil)
}

/// Sends messages one after the other, and says what became of them if they were not taken.
private final class MessageSender {
    private let order: SendOrder
    private let client: HTTPClient

    init(_ order: SendOrder) {
        self.order = order
        client = HTTPClient(order.endpoint)
    }

    /// Sends a message that stands in this line of stdin, if it does.
    func send(_ message: [UInt8], line: Int?) -> ExitCode {
        let place = line.map { "line \($0): " } ?? ""
        do throws(ClientFailure) {
            let reply = try client.begin(order.request(message), within: order.patience)
            let body = try client.body(most: Refusal.bodyLimit, within: order.patience)
            guard reply.status != 200, reply.status != 202 else { return .clean }
            Machine.complain("wsbridge: \(place)refused: \(Refusal(status: reply.status, body: body).text)")
            return .refused
        } catch {
            let doubt = error.isInterruption ? "; the message may have been sent" : ""
            Machine.complain("wsbridge: \(place)\(error.text(at: order.endpoint.address))\(doubt)")
            return .unavailable
        }
    }

    func sendLines() -> ExitCode {
        var lines = LineSplitter()
        var code = ExitCode.clean
        let send: (LineSplitter.Line) -> Bool = { [self] line in
            code = self.send(line.bytes, line: line.number)
            return code == .clean
        }
        do {
            while let input = try Machine.readInput() {
                guard try lines.read(input[...], send) else { return code }
            }
            _ = lines.close(send)
            return code
        } catch let error as LineSplitter.TooLong {
            let limit = ByteSize(bytes: error.limit).text
            Machine.complain("wsbridge: line \(error.number): it has more than \(limit)")
            return .refused
        } catch {
            Machine.complain(
                "wsbridge: the input cannot be read: \((error as? Machine.InputFailure)?.reason ?? "")"
            )
            return .streamUnusable
        }
    }
}

extension ClientFailure {
    fileprivate var isInterruption: Bool {
        if case .interrupted = self { true } else { false }
    }

    /// What to tell the user.
    func text(at address: ListenAddress) -> String {
        switch self {
        case .unreachable(let reason): "no bridge answers at \(address.text): \(reason)"
        case .interrupted(let reason): "the bridge at \(address.text) did not answer: \(reason)"
        case .outputClosed: "nobody reads the output"
        }
    }
}
