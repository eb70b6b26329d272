internal import BridgeCore
internal import WebSocketProtocol

/// The question for the URL of one attempt; letting go of it ends it.
final class URLQuestion {
    typealias Answer = Result<WebSocketURL, DialFailure>

    private enum Asked {
        case nobody
        case server(Transfer)
        case command(CommandRun)
    }

    private let completion: (Answer) -> Void
    private var asked = Asked.nobody
    private var refusal: LoopTimer?

    /// Asks; `completion` is called once, on a later turn.
    init(
        _ provider: URLProvider,
        _ route: UpstreamRoute,
        _ surroundings: ManagedConnection.Surroundings,
        completion: @escaping (Answer) -> Void
    ) {
        self.completion = completion
        switch provider {
        case .http(let provider): ask(provider, through: route.proxy, surroundings)
        case .command(let command):
            let name = command[0]
            let run = CommandRun(
                loop: surroundings.loop,
                command,
                secrets: route.secrets,
                remark: { surroundings.sink.remarked(.question($0)) },
                completion: { [weak self] in self?.ended($0, of: "the command \(name)") }
            )
            asked = .command(run)
        }
    }

    private func ask(
        _ provider: HTTPURLProvider,
        through rule: ProxyRule,
        _ surroundings: ManagedConnection.Surroundings
    ) {
        do throws(DialFailure) {
            let proxy = try rule.proxy(for: provider.url)
            let order = Transfer.Order(provider, proxy: proxy, maximumBytes: URLAnswer.maximumBytes)
            asked = .server(try start(order, surroundings))
        } catch {
            let failure = DialFailure(phase: .url, error: error.error)
            refusal = surroundings.loop.startTimer(after: .zero) { [weak self] in
                self?.completion(.failure(failure))
            }
        }
    }

    private func start(
        _ order: Transfer.Order,
        _ surroundings: ManagedConnection.Surroundings
    ) throws(DialFailure) -> Transfer {
        do throws(Transfer.Failure) {
            return try surroundings.transfers.start(order) { [weak self] in
                self?.answered($0, by: order.provider, at: surroundings.wallClock())
            }
        } catch {
            throw DialFailure(phase: .url, error: error.error)
        }
    }

    private func answered(_ outcome: Transfer.Outcome, by provider: HTTPURLProvider, at now: WallTime) {
        let name = "the URL's provider \(provider.origin)"
        switch outcome {
        case .failure(let failure):
            fail("\(name): \(failure.error)")
        case .success(let reply):
            guard (200...299).contains(reply.status) else {
                return fail(
                    "\(name) answered with HTTP status \(reply.status)",
                    retryAfter: reply.retryAfter?.delay(at: now)
                )
            }
            take(URLAnswer(reply.body), at: provider.pointer, isLocal: false, of: name)
        }
    }

    private func ended(_ outcome: CommandRun.Outcome, of name: String) {
        switch outcome {
        case .failure(let failure): fail("\(name) \(failure.text)")
        case .success(let output): take(URLAnswer(output), isLocal: true, of: name)
        }
    }

    private func take(_ answer: URLAnswer, at pointer: JSONPointer? = nil, isLocal: Bool, of name: String) {
        do throws(URLAnswerFailure) {
            completion(.success(try answer.url(at: pointer, isLocal: isLocal)))
        } catch {
            fail("\(name): \(error.text)")
        }
    }

    private func fail(_ error: String, retryAfter: Duration? = nil) {
        completion(.failure(DialFailure(phase: .url, retryAfter: retryAfter, error: error)))
    }
}
