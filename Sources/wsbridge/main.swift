internal import BridgeCore
internal import BridgeIO

Machine.openStandardStreams()
Machine.ignoreBrokenPipes()
do throws(StartError) {
    let invocation = try Invocation(
        arguments: Machine.arguments,
        environment: Machine.environment,
        files: .ofMachine()
    )
    Machine.exitNow(try run(invocation).rawValue)
} catch {
    Machine.complain(error.lines.joined(separator: "\n"))
    Machine.exitNow(error.exitCode.rawValue)
}

@MainActor func run(_ invocation: Invocation) throws(StartError) -> ExitCode {
    switch invocation {
    case .version:
        return Machine.say("wsbridge \(Version.text)")
    case .help(let text), .check(let text):
        return Machine.say(text)
    case .serve(let configuration):
        return try Service(configuration, loop: Loop(), reread: try configurationReader()).run()
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
@MainActor func configurationReader() throws(StartError) -> (() throws(StartError) -> BridgeConfiguration)? {
    let arguments = try Machine.arguments
    let environment = try Machine.environment
    guard Invocation.namesFile(arguments: arguments, environment: environment) else { return nil }
    return { () throws(StartError) in
        // Nothing else goes on meanwhile.
        let files = ConfigurationFiles.ofMachine(patience: .milliseconds(100))
        return try BridgeConfiguration(arguments: arguments, environment: environment, files: files)
    }
}
