/// Looks settings up where they may be given, and gathers all that is wrong with them.
struct SettingReader {
    private let flags: [Setting: String]
    private let environment: [String: String]
    private(set) var complaints: [StartError.Complaint]

    /// Starts with what is wrong with the command line itself.
    ///
    /// `command` decides which flags and operands there may be.
    init(_ arguments: CommandArguments, _ environment: [String: String], for command: Command) {
        flags = arguments.flags
        self.environment = environment
        complaints = arguments.complaints
        for setting in Setting.allCases where !command.flags.contains(setting) {
            refuseFlag(setting, "`wsbridge \(command.rawValue)` does not take this flag")
        }
        if arguments.operands.count > command.operandLimit {
            let isMessage = command.operandLimit > 0
            let text =
                isMessage ? "one message at a time; put quotes around it" : "every value follows its flag"
            complain(nil, "unexpected argument; \(text)", .usage)
        }
    }

    mutating func complain(_ place: String?, _ text: String, _ exitCode: ExitCode) {
        complaints.append(StartError.Complaint(place, text, exitCode))
    }

    /// Whether anything stands for the setting, right or wrong.
    func isGiven(_ setting: Setting) -> Bool {
        source(of: setting) != nil
    }

    /// Whether what stands for the setting was complained about.
    func isWrong(_ setting: Setting) -> Bool {
        source(of: setting).map { source in complaints.contains { $0.place == source.place } } ?? false
    }

    /// The flag or variable that decides the setting, the flag if neither is given.
    func place(of setting: Setting) -> String {
        source(of: setting)?.place ?? setting.flag
    }

    /// Reads the setting, if it is given, and hands its value on, if it is right.
    mutating func read<Value>(
        _ setting: Setting,
        _ parse: (String) throws(MalformedValue) -> Value,
        _ take: (Value) -> Void
    ) {
        guard let source = source(of: setting) else { return }
        do throws(MalformedValue) {
            take(try parse(source.text))
        } catch {
            let shown = setting.isShowable ? ", not `\(Problem.quotable(source.text))`" : ""
            complain(source.place, "expected \(error.expectation)\(shown)", source.exitCode)
        }
    }

    /// The path of the configuration file, if there is to be one.
    var configurationFile: String? { source(of: .config)?.text }

    /// Adds what is wrong with the configuration file.
    mutating func complain(_ complaints: [StartError.Complaint]) {
        self.complaints += complaints
    }

    /// Complains about a flag that the command does not take.
    mutating func refuseFlag(_ setting: Setting, _ text: String) {
        if flags[setting] != nil { complain(setting.flag, text, .usage) }
    }

    /// The flag, else the variable; a wrong flag is wrong usage, a wrong variable a wrong configuration.
    ///
    /// An empty variable counts as none, but for the token's: whoever set that one meant to have a token.
    private func source(of setting: Setting) -> (place: String, text: String, exitCode: ExitCode)? {
        if let text = flags[setting] { return (setting.flag, text, .usage) }
        guard setting.support.hasVariable, let text = environment[setting.variable],
            !text.isEmpty || setting == .token
        else { return nil }
        return (setting.variable, text, .configuration)
    }
}
