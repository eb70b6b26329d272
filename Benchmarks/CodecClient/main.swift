// The bridge's WebSocket client by itself: reads messages and does nothing with them.
//
// usage: codec-client URL
import BridgeCore
import BridgeIO
import Glibc
import WebSocketProtocol

/// Longer messages than any benchmark sends.
let maximumMessageBytes = 64 << 20

func fail(_ text: String) -> Never {
    print("codec-client: \(text)")
    exit(1)
}

guard CommandLine.arguments.count == 2 else { fail("usage: codec-client URL") }
let loop = Loop()
do throws(WebSocketURLError) {
    let terms = ClientHandshake.Terms(url: try WebSocketURL(CommandLine.arguments[1]))
    let target = UpstreamTarget(terms: terms, maximumMessageBytes: maximumMessageBytes)
    let socket = UpstreamSocket(loop: loop, target: target) { event in
        switch event {
        case .opened, .message, .ping, .pong, .written: break
        case .closeFrame, .ended: loop.stop()
        case .failed(let failure): fail(failure.error)
        case .violation(let violation): fail(violation.reason)
        }
    }
    socket.dial()
    withExtendedLifetime(socket) { loop.run() }
} catch {
    fail("the URL \(error)")
}
