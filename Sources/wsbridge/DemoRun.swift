internal import BridgeCore
internal import BridgeIO
internal import Demo
internal import WebSocketProtocol

/// Serves an upstream of its own through a bridge, and says how to try it.
func runDemo(_ configuration: BridgeConfiguration) -> ExitCode {
    let loop = Loop()
    do {
        let upstream = try DemoUpstream(loop: loop, wallTime: { loop.wallTime })
        var configuration = configuration
        configuration.connections["default"] = ConnectionConfiguration(url: try WebSocketURL(upstream.url))
        let needsToken = !configuration.http.tokens.isEmpty
        let code = Service(configuration, loop: loop).run { address in
            Machine.say(DemoGuide.text(listeningOn: address, needsToken: needsToken))
        }
        return withExtendedLifetime(upstream) { code }
    } catch {
        Machine.complain("wsbridge: the demo's upstream cannot be started: \(error)")
        return .cannotBind
    }
}
