/// What the user asked the command to do, with everything it needs for that.
package enum Invocation: Equatable, Sendable {
    case serve(BridgeConfiguration)
    /// The configuration has no connections yet: the demo adds its own upstream as `default`.
    case demo(BridgeConfiguration)
    case version
    /// The text is to be printed to stdout.
    case help(text: String)

    /// Reads the words after the program's name, and the environment where the command has settings.
    ///
    /// Throws all that is wrong with both at once.
    package init(arguments: some Collection<String>, environment: [String: String]) throws(StartError) {
        let arguments = CommandArguments(arguments)
        guard let word = arguments.command else {
            guard arguments.wantsHelp || !arguments.complaints.isEmpty else {
                throw StartError([.init(nil, "no command given", .usage)])
            }
            guard arguments.wantsHelp else { throw StartError(arguments.complaints) }
            self = .help(text: HelpText.overview)
            return
        }
        guard let command = Command(word) else { throw StartError([Command.unknown(word)]) }
        if arguments.wantsHelp {
            self = .help(text: command.helpText)
            return
        }
        switch command {
        case .help:
            self = .help(text: try Invocation.topic(arguments))
        case .version:
            try Invocation.require(arguments, operands: 0, flags: false)
            self = .version
        case .serve:
            self = .serve(try BridgeConfiguration(arguments, environment, bringsUpstream: false))
        case .demo:
            self = .demo(try BridgeConfiguration(arguments, environment, bringsUpstream: true))
        }
    }

    private static func topic(_ arguments: CommandArguments) throws(StartError) -> String {
        try require(arguments, operands: 1, flags: false)
        guard let word = arguments.operands.first else { return HelpText.overview }
        guard let command = Command(word) else { throw StartError([Command.unknown(word)]) }
        return command.helpText
    }

    /// Throws what is wrong with the words of a command that has no settings.
    private static func require(
        _ arguments: CommandArguments,
        operands: Int,
        flags: Bool
    ) throws(StartError) {
        var complaints = arguments.complaints
        if arguments.operands.count > operands { complaints.append(.init(nil, "too many arguments", .usage)) }
        if !flags, !arguments.flags.isEmpty {
            complaints.append(.init(nil, "this command has no flags", .usage))
        }
        guard complaints.isEmpty else { throw StartError(complaints) }
    }
}
