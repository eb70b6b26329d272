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

    private let secrets: [String]
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
        secrets = route.secrets
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
                self?.answered($0, by: order.provider, surroundings)
            }
        } catch {
            throw DialFailure(phase: .url, error: error.error)
        }
    }

    private func answered(
        _ outcome: Transfer.Outcome,
        by provider: HTTPURLProvider,
        _ surroundings: ManagedConnection.Surroundings
    ) {
        let name = "the URL's provider \(provider.origin)"
        switch outcome {
        case .failure(let failure):
            fail("\(name): \(failure.error)")
        case .success(let reply):
            guard (200...299).contains(reply.status) else {
                show(reply.body, of: provider, surroundings)
                return fail(
                    "\(name) answered with HTTP status \(reply.status)",
                    retryAfter: reply.retryAfter?.delay(at: surroundings.wallClock())
                )
            }
            do throws(URLAnswerFailure) {
                let answer = URLAnswer(reply.body)
                completion(.success(try answer.url(at: provider.pointer, isLocal: false)))
            } catch {
                if error.isWithoutURL { show(reply.body, of: provider, surroundings) }
                fail("\(name) answered with HTTP status \(reply.status), but \(error.text)")
            }
        }
    }

    /// Shows how an answer begins that has no URL, without what is secret of the question.
    private func show(
        _ body: [UInt8],
        of provider: HTTPURLProvider,
        _ surroundings: ManagedConnection.Surroundings
    ) {
        guard !body.isEmpty else { return }
        let mask = provider.mask(with: secrets)
        let text = mask.shown(body, maximumBytes: AnswerExcerpt.maximumBytes, isCut: false)
        surroundings.sink.remarked(.providerText(text))
    }

    private func ended(_ outcome: CommandRun.Outcome, of name: String) {
        switch outcome {
        case .failure(let failure): fail("\(name) \(failure.text)")
        case .success(let output):
            do throws(URLAnswerFailure) {
                completion(.success(try URLAnswer(output).url(isLocal: true)))
            } catch {
                fail("\(name): \(error.text)")
            }
        }
    }

    private func fail(_ error: String, retryAfter: Duration? = nil) {
        completion(.failure(DialFailure(phase: .url, retryAfter: retryAfter, error: error)))
    }
}
