internal import BridgeCore
internal import BridgeIO

Machine.openStandardStreams()
Machine.ignoreBrokenPipes()
ProcessSignals.holdHangUps()
do throws(StartError) {
    let invocation = try readInvocation()
    Machine.exitNow(try run(invocation).rawValue)
} catch {
    Machine.complain(error.lines.joined(separator: "\n"))
    Machine.exitNow(error.exitCode.rawValue)
}

/// What the user asked for; throws all that is wrong with that.
@MainActor func readInvocation() throws(StartError) -> Invocation {
    let environment = Machine.environment
    let invocation: Invocation
    do throws(StartError) {
        invocation = try Invocation(
            arguments: Machine.arguments,
            environment: environment.variables,
            files: .ofMachine()
        )
    } catch {
        throw StartError(error.complaints + environment.complaints)
    }
    switch invocation {
    case .version, .help: break
    case .serve, .check, .demo, .health, .send, .tail:
        guard environment.complaints.isEmpty else { throw StartError(environment.complaints) }
    }
    return invocation
}

@MainActor func run(_ invocation: Invocation) throws(StartError) -> ExitCode {
    switch invocation {
    case .serve, .demo: break  // They take them once they know what to do.
    case .version, .help, .check, .health, .send, .tail: ProcessSignals.takeHangUps()
    }
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
    let environment = Machine.environment.variables
    guard Invocation.namesFile(arguments: arguments, environment: environment) else { return nil }
    return { () throws(StartError) in
        // Nothing else goes on meanwhile.
        let files = ConfigurationFiles.ofMachine(patience: .milliseconds(100))
        return try BridgeConfiguration(arguments: arguments, environment: environment, files: files)
    }
}
