/// What the user asked the command to do, with everything it needs for that.
package enum Invocation: Equatable, Sendable {
    case serve(BridgeConfiguration)
    /// The effective configuration, a preset, or what they mean, is to be printed to stdout; secrets are masked.
    case check(text: String)
    /// The configuration has no connections yet: the demo adds its own upstream as `default`.
    case demo(BridgeConfiguration)
    case health(BridgeEndpoint)
    case send(SendOrder)
    case tail(TailOrder)
    case version
    /// The text is to be printed to stdout.
    case help(text: String)

    /// Reads the words after the program's name, and environment and file where the command has settings.
    ///
    /// Throws all that is wrong with them at once.
    package init(
        arguments: some Collection<String>,
        environment: [String: String],
        files: ConfigurationFiles
    ) throws(StartError) {
        let arguments = CommandArguments(arguments)
        guard let word = arguments.command else {
            guard arguments.wantsHelp else {
                throw StartError(arguments.complaints + [.init(nil, "no command given", .usage)])
            }
            self = .help(text: HelpText.overview)
            return
        }
        guard let command = Command(word) else {
            throw StartError(arguments.complaints + [Command.unknown(word)])
        }
        if arguments.wantsHelp {
            self = .help(text: command.helpText)
            return
        }
        switch command {
        case .help:
            self = .help(text: try Invocation.topic(arguments))
        case .version:
            try Invocation.requirePlain(arguments, operands: 0)
            self = .version
        case .serve:
            self = .serve(try BridgeConfiguration(arguments, environment, files, for: .serve))
        case .check:
            self = .check(text: try Invocation.report(arguments, environment, files))
        case .demo:
            self = .demo(try BridgeConfiguration(arguments, environment, files, for: .demo))
        case .health:
            self = .health(try BridgeEndpoint(OrderSources(arguments, environment, files)))
        case .send:
            self = .send(try SendOrder(OrderSources(arguments, environment, files)))
        case .tail:
            self = .tail(try TailOrder(OrderSources(arguments, environment, files)))
        }
    }

    /// What `wsbridge check` prints.
    private static func report(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) throws(StartError) -> String {
        let isExplained = arguments.flags[.explain] != nil
        if arguments.flags[.preset] != nil {
            let report = try PresetReport(arguments, environment, files)
            return isExplained ? report.explanation : report.text
        }
        let checked = try BridgeConfiguration(arguments, environment, files, for: .check)
        let store = try checked.storeText(files)
        return isExplained ? checked.explanation : checked.effectiveText(files.memoryLimit()) + store
    }

    /// Whether a configuration file is named by a flag or the environment.
    package static func namesFile(
        arguments: some Collection<String>,
        environment: [String: String]
    ) -> Bool {
        let reader = SettingReader(CommandArguments(arguments), environment, for: .serve)
        return reader.configurationFile != nil
    }

    /// Whether the bridge is to serve what others have set up, be it a socket.
    package static func serves(arguments: some Collection<String>) -> Bool {
        CommandArguments(arguments).command.flatMap { Command($0) } == .serve
    }

    private static func topic(_ arguments: CommandArguments) throws(StartError) -> String {
        try requirePlain(arguments, operands: 1)
        guard let word = arguments.operands.first else { return HelpText.overview }
        guard let command = Command(word) else { throw StartError([Command.unknown(word)]) }
        return command.helpText
    }

    /// Throws what is wrong with the words of a command that has no flags and at most so many operands.
    private static func requirePlain(_ arguments: CommandArguments, operands: Int) throws(StartError) {
        var complaints = arguments.complaints
        if arguments.operands.count > operands { complaints.append(.init(nil, "too many arguments", .usage)) }
        for flag in arguments.flags.keys.map(\.flag).sorted() {
            complaints.append(.init(flag, "this command has no flags", .usage))
        }
        guard complaints.isEmpty else { throw StartError(complaints) }
    }
}
