internal import BridgeCore
internal import CMicroHTTPD
internal import CUV
internal import Glibc
internal import WebSocketProtocol

// Answers that clients get before all of their request is there, and the time to read them. libmicrohttpd takes an answer
// together with the head, or after the body; it closes a connection whose request it has not read in full, which would
// reset it while the client still writes.

extension HTTPServer {
    /// Answers in the middle of a request; the daemon has to close the connection.
    func breakOff(_ exchange: Exchange, with response: HTTPResponse) {
        response.send(to: exchange.client.descriptor)
        tally.answered(exchange.row, status: response.status, problem: response.problem)
        exchange.isBrokenOff()
    }

    /// Answers a client whose request is not there in time; returns whether there was anything to answer.
    ///
    /// What comes of it from now on leads to the end of the connection.
    func answerLate(_ client: ClientConnection) -> Bool {
        guard let exchange = client.exchange, let response = exchange.lateAnswer() else { return false }
        breakOff(exchange, with: response)
        shutdown(client.descriptor, WSB_SHUT_WR)
        return true
    }

    /// Whether the socket of a connection that the daemon closes is kept until its client has read the answer.
    func lingers(_ client: ClientConnection) -> Bool {
        // A server that ends waits for nobody.
        guard unsafe daemon != nil, !client.isCut else { return false }
        switch client.waiting {
        case .end: return false
        case .nothing where !client.maySendMore: return false
        case .nothing, .something: break
        }
        let socket = fcntl(client.descriptor, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { return false }
        closing.close(socket, of: client.address)
        return true
    }
}

extension HTTPResponse {
    /// Writes the answer to a socket to which no part of one is under way; the connection has to be closed after it.
    func send(to descriptor: Int32) {
        let bytes = closingBytes
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, WSB_MSG_DONTWAIT | WSB_MSG_NOSIGNAL)
    }

    private var closingBytes: [UInt8] {
        let reason = unsafe MHD_get_reason_phrase_for(CUnsignedInt(status)).map { unsafe String(cString: $0) }
        var text = "HTTP/1.1 \(status) \(reason ?? "")\r\n"
        let framing = [HTTPField("Connection", "close"), HTTPField("Content-Length", String(body.count))]
        for field in framing + fields { text += "\(field.name): \(field.value)\r\n" }
        return [UInt8]((text + "\r\n").utf8) + body
    }
}
