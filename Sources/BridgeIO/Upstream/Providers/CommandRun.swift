internal import WebSocketProtocol

/// One run of a program for what it prints; letting go of it ends the program and all that it started.
///
/// The program's own end counts: who still holds on to its output then is not waited for.
final class CommandRun {
    typealias Outcome = Result<[UInt8], Failure>

    struct Failure: Error {
        /// What the command did, to stand after its name.
        let text: String
    }

    private let completion: (Outcome) -> Void
    private let remark: (String) -> Void
    private let loop: Loop
    private let name: String
    /// What must not show of what it writes to stderr, besides what it prints.
    private let secrets: [String]
    private var process: ChildProcess?
    private var output: PipeIntake?
    private var errors: PipeIntake?
    private var later: LoopTimer?

    /// What is printed beyond that is too much for a URL.
    private static let maximumOutput = 64 * 1024
    /// The rest of what a program complains about is dropped; the log would not show it either.
    private static let maximumErrors = 1024
    /// Secrets that begin in what is shown are recognised up to that length.
    private static let maximumErrorsKept = maximumErrors + maximumOutput

    /// Starts it; `completion` is called once, on a later turn, and `remark` gets what it wrote to stderr.
    ///
    /// In that its arguments, what it prints and `secrets` are masked.
    init(
        loop: Loop,
        _ command: [String],
        secrets: [String],
        remark: @escaping (String) -> Void,
        completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.remark = remark
        self.completion = completion
        name = command[0]
        self.secrets = secrets + command.dropFirst()
        do throws(ChildProcess.StartFailure) {
            try start(command)
        } catch {
            finishLater(Failure(text: "cannot be started: \(error.error)"))
        }
    }

    isolated deinit {
        process?.kill()
        tellErrors()
    }

    private func start(_ command: [String]) throws(ChildProcess.StartFailure) {
        let output = try PipeIntake(loop: loop, limit: CommandRun.maximumOutput) { [weak self] in
            self?.overflowed()
        }
        let errors = try PipeIntake(loop: loop, limit: CommandRun.maximumErrorsKept)
        process = try ChildProcess(loop: loop, command, output: output.writer, errors: errors.writer) {
            [weak self] in
            self?.ended($0)
        }
        output.closeWriter()
        errors.closeWriter()
        (self.output, self.errors) = (output, errors)
    }

    private func overflowed() {
        process?.kill()
        process = nil
        finishLater(Failure(text: "printed more than \(CommandRun.maximumOutput) bytes"))
    }

    private func finishLater(_ failure: Failure) {
        later = loop.startTimer(after: .zero) { [weak self] in self?.completion(.failure(failure)) }
    }

    private func ended(_ ending: ChildProcess.Ending) {
        process = nil
        output?.drain()
        // That may have been too much.
        guard later == nil else { return }
        errors?.drain()
        tellErrors()
        switch ending {
        case .exited(status: 0): completion(.success(output?.bytes ?? []))
        case .exited(let status): completion(.failure(Failure(text: "exited with status \(status)")))
        case .signalled(let number): completion(.failure(Failure(text: "was ended by signal \(number)")))
        }
    }

    /// What it wrote to stderr so far, once.
    private func tellErrors() {
        guard let errors, !errors.bytes.isEmpty else { return }
        let mask = SecretMask(secrets + [String(decoding: output?.bytes ?? [], as: UTF8.self)])
        let text = mask.shown(
            errors.bytes,
            maximumBytes: CommandRun.maximumErrors,
            isCut: errors.isOverfull
        )
        let more = errors.bytes.count > CommandRun.maximumErrors ? " …" : ""
        remark("the command \(name) says: " + text + more)
        self.errors = nil
    }
}
