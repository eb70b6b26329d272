internal import BridgeCore
internal import BridgeIO
internal import FoundationEssentials

Machine.openStandardStreams()
Machine.ignoreBrokenPipes()
do throws(StartError) {
    let invocation = try Invocation(
        arguments: CommandLine.arguments.dropFirst(),
        environment: ProcessInfo.processInfo.environment,
        files: .local
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
        return try Service(configuration, loop: Loop()).run()
    case .demo(let configuration):
        return try runDemo(configuration)
    }
}
