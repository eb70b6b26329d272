package import BridgeCore

/// A client of the bridge for commands: one request after the other, blocking.
package final class HTTPClient {
    /// A connection is asked again only this soon: then the bridge has not closed it meanwhile.
    private static let reuseLimit = Duration.seconds(5)

    private let endpoint: BridgeEndpoint
    /// A pipe whose reader's end ends every wait.
    private let output: Int32?
    private var socket: ClientSocket?
    private var reader = HTTPReplyReader()
    private var parts: [HTTPReplyReader.Part] = []
    /// All of the last request was taken.
    private var isSent = false
    /// The last answer was read to its end, and another request may follow.
    private var isReusable = false
    private var lastUse = ContinuousClock.now

    /// Connects when it is first asked for something.
    package init(_ endpoint: BridgeEndpoint, output: Int32? = nil) {
        self.endpoint = endpoint
        self.output = output
    }

    /// Asks, and waits at most so long for the head of the answer.
    ///
    /// What is left of an earlier answer is given up.
    package func begin(
        _ request: ClientRequest,
        within limit: Duration
    ) throws(ClientFailure) -> HTTPReply {
        let deadline = ContinuousClock.now + limit
        let socket = try connected(by: deadline)
        reader = HTTPReplyReader()
        parts = []
        isReusable = false
        isSent = try socket.send(request.bytes(for: endpoint.address), by: deadline)
        while true {
            if case .head(let reply)? = try nextPart(socket, by: deadline) { return reply }
        }
    }

    /// Waits for a piece of the body; nil at its end.
    package func next(within limit: Duration?) throws(ClientFailure) -> [UInt8]? {
        guard let socket else { return nil }
        let deadline = limit.map { ContinuousClock.now + $0 }
        while let part = try nextPart(socket, by: deadline) {
            switch part {
            case .head: continue
            case .body(let bytes): return bytes
            case .end:
                isReusable = isSent && reader.keepsConnection
                lastUse = .now
                if !isReusable { self.socket = nil }
                return nil
            }
        }
        return nil
    }

    /// Reads a whole body, of which no more than `most` bytes are kept.
    package func body(most: Int, within limit: Duration) throws(ClientFailure) -> [UInt8] {
        var body: [UInt8] = []
        while let piece = try next(within: limit) { body += piece.prefix(most - body.count) }
        return body
    }

    /// Closes the connection.
    package func close() { socket = nil }

    private func connected(by deadline: ContinuousClock.Instant) throws(ClientFailure) -> ClientSocket {
        if let socket, isReusable, lastUse + HTTPClient.reuseLimit > .now, socket.isQuiet {
            return socket
        }
        socket = nil
        let socket = try ClientSocket(endpoint, by: deadline)
        self.socket = socket
        return socket
    }

    private func nextPart(
        _ socket: ClientSocket,
        by deadline: ContinuousClock.Instant?
    ) throws(ClientFailure) -> HTTPReplyReader.Part? {
        while parts.isEmpty {
            let bytes = try socket.receive(by: deadline, output: output)
            do throws(HTTPReplyFailure) {
                parts = bytes.isEmpty ? try reader.close() : try reader.read(bytes)
            } catch {
                self.socket = nil
                throw HTTPClient.failure(error)
            }
        }
        return parts.removeFirst()
    }

    private static func failure(_ failure: HTTPReplyFailure) -> ClientFailure {
        switch failure {
        case .malformed, .tooLarge: .interrupted("what answers is not a bridge")
        case .cutOff: .interrupted("it closed the connection")
        }
    }
}
