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
    private var process: ChildProcess?
    private var output: PipeIntake?
    private var errors: PipeIntake?
    private var later: LoopTimer?

    /// What is printed beyond that is too much for a URL.
    private static let maximumOutput = 64 * 1024
    /// The rest of what a program complains about is dropped.
    private static let maximumErrors = 4 * 1024

    /// Starts it; `completion` is called once, on a later turn, and `remark` gets what it wrote to stderr.
    init(
        loop: Loop,
        _ command: [String],
        remark: @escaping (String) -> Void,
        completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.remark = remark
        self.completion = completion
        name = command[0]
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
        let errors = try PipeIntake(loop: loop, limit: CommandRun.maximumErrors)
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
        let more = errors.isOverfull ? " …" : ""
        remark("the command \(name) says: " + String(decoding: errors.bytes, as: UTF8.self) + more)
        self.errors = nil
    }
}
