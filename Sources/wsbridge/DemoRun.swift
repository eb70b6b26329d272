internal import BridgeCore
internal import BridgeIO
internal import Demo
internal import WebSocketProtocol

/// Serves an upstream of its own through a bridge, and says how to try it.
///
/// - Throws: what a file that is needed from the start lacks.
func runDemo(_ configuration: BridgeConfiguration) throws(StartError) -> ExitCode {
    let loop = Loop()
    let upstream: DemoUpstream
    var configuration = configuration
    do {
        upstream = try DemoUpstream(loop: loop, wallTime: { loop.wallTime })
        configuration.connections["default"] = ConnectionConfiguration(url: try WebSocketURL(upstream.url))
    } catch {
        Machine.complain("wsbridge: the demo's upstream cannot be started: \(error)")
        return .cannotBind
    }
    let needsToken = !configuration.http.tokens.isEmpty
    let service = try Service(configuration, loop: loop)
    let code = service.run { address in
        // A demo without its guide is a demo all the same.
        _ = Machine.say(DemoGuide.text(listeningOn: address, needsToken: needsToken))
    }
    return withExtendedLifetime(upstream) { code }
}
