internal import BridgeCore
internal import CMicroHTTPD
internal import CUV
internal import Glibc
internal import WebSocketProtocol

// libmicrohttpd 0.9.75 answers a malformed Content-Length itself, and sends the head of its answer twice. All that
// it calls before is the logger.

/// The daemon has something to say about a request: answers it, if its length is malformed, before the daemon does.
///
/// The request is looked for among the newest alone. One whose head came in parts, while others began, gets the
/// daemon's answer.
nonisolated func daemonLogged(
    _ context: UnsafeMutableRawPointer?,
    _ format: UnsafePointer<CChar>?,
    _ arguments: CVaListPointer?
) {
    guard let server = unsafe owner(of: context, as: HTTPServer.self) else { return }
    onLoop(with: server) { $0.refuseMalformedLength() }
}

extension HTTPServer {
    fileprivate func refuseMalformedLength() {
        guard let connection = unsafe newestConnection, unsafe hasMalformedLength(connection) else { return }
        unsafe newestConnection = nil
        let problem = Problem(.invalidFraming, "Content-Length is not a number").closingConnection()
        let response = HTTPResponse(problem)
        tally.answered(nil, status: response.status, problem: response.problem)
        let descriptor = unsafe wsbridge_connection_descriptor(connection)
        response.send(to: descriptor)
        // What the daemon sends now goes nowhere, and the daemon closes the connection.
        shutdown(descriptor, WSB_SHUT_WR)
    }

    private func hasMalformedLength(_ connection: OpaquePointer) -> Bool {
        // Beside a Transfer-Encoding the daemon looks at no length, and the request gets to its handler.
        guard unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, "Transfer-Encoding") == nil,
            let length = unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, "Content-Length")
        else { return false }
        return unsafe UInt64(digits: String(cString: length)) == nil
    }
}
