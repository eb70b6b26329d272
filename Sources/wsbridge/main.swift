internal import BridgeCore
internal import BridgeIO

Machine.openStandardStreams()
Machine.ignoreBrokenPipes()
ProcessSignals.holdHangUps()
do throws(StartError) {
    let start = try Start()
    Machine.exitNow(try run(readInvocation(start), start).rawValue)
} catch {
    Machine.complain(error.lines.joined(separator: "\n"))
    Machine.exitNow(error.exitCode.rawValue)
}

/// What the process was handed when it was started, beside words and variables.
struct Start {
    let supervisor: SupervisorEnvironment
    /// The socket to serve on, if one was passed.
    let socket: ListenSocket?

    /// Takes it, so that no program that is started gets it as well; throws what is of no use.
    init() throws(StartError) {
        let variables = Machine.environment.variables
        Machine.forget(SupervisorEnvironment.names)
        guard Invocation.serves(arguments: (try? Machine.arguments) ?? []) else {
            (supervisor, socket) = (SupervisorEnvironment(), nil)
            return
        }
        supervisor = try SupervisorEnvironment(variables, process: Machine.processNumber)
        do throws(ListenFailure) {
            let descriptor = SupervisorEnvironment.firstDescriptor
            socket = supervisor.hasSocket ? try ListenSocket(passed: descriptor) : nil
        } catch {
            throw StartError([.init("LISTEN_FDS", error.error, .cannotBind)])
        }
    }
}

/// What the user asked for; throws all that is wrong with that.
@MainActor func readInvocation(_ start: Start) throws(StartError) -> Invocation {
    let environment = Machine.environment
    let invocation: Invocation
    do throws(StartError) {
        invocation = try Invocation(
            arguments: Machine.arguments,
            environment: environment.variables,
            files: .ofMachine(passed: start.socket?.address)
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

@MainActor func run(_ invocation: Invocation, _ start: Start) throws(StartError) -> ExitCode {
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
        let reread = try configurationReader(passed: start.socket?.address)
        return try Service(
            configuration,
            loop: Loop(),
            on: start.socket,
            for: start.supervisor,
            reread: reread
        ).run()
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
@MainActor func configurationReader(
    passed address: ListenAddress?
) throws(StartError) -> (() throws(StartError) -> BridgeConfiguration)? {
    let arguments = try Machine.arguments
    let environment = Machine.environment.variables
    guard Invocation.namesFile(arguments: arguments, environment: environment) else { return nil }
    return { () throws(StartError) in
        // Nothing else goes on meanwhile.
        let files = ConfigurationFiles.ofMachine(patience: .milliseconds(100), passed: address)
        return try BridgeConfiguration(arguments: arguments, environment: environment, files: files)
    }
}
