internal import BridgeCore
internal import BridgeIO
internal import FoundationEssentials

Machine.openStandardStreams()
Machine.ignoreBrokenPipes()
do throws(StartError) {
    let invocation = try Invocation(
        arguments: CommandLine.arguments.dropFirst(),
        environment: ProcessInfo.processInfo.environment,
        files: .local()
    )
    Machine.exitNow(try run(invocation).rawValue)
} catch {
    Machine.complain(error.lines.joined(separator: "\n"))
    Machine.exitNow(error.exitCode.rawValue)
}

@MainActor func run(_ invocation: Invocation) throws(StartError) -> ExitCode {
    switch invocation {
    case .version:
        Machine.say("wsbridge \(Version.text)")
        return .clean
    case .help(let text), .check(let text):
        Machine.say(text)
        return .clean
    case .serve(let configuration):
        return try Service(configuration, loop: Loop(), reread: configurationReader()).run()
    case .demo(let configuration):
        return try runDemo(configuration)
    case .health(let endpoint):
        return runHealth(endpoint)
    case .send(let order):
        return runSend(order)
    case .tail(let order):
        return Tail(order).run()
    }
}

/// Reads the configuration as at the start, if there is a file to read.
@MainActor func configurationReader() -> (() throws(StartError) -> BridgeConfiguration)? {
    let arguments = CommandLine.arguments.dropFirst()
    let environment = ProcessInfo.processInfo.environment
    guard Invocation.namesFile(arguments: arguments, environment: environment) else { return nil }
    return { () throws(StartError) in
        // Nothing else goes on meanwhile.
        let files = ConfigurationFiles.local(patience: .milliseconds(100))
        return try BridgeConfiguration(arguments: arguments, environment: environment, files: files)
    }
}
