internal import BridgeCore
internal import CUV
internal import Glibc

/// Proves at start-up, through the real daemon, that streams can be written by their owner.
///
/// Writing on the socket of a suspended connection, and all the more taking it away, goes beyond what libmicrohttpd's
/// manual promises. So a client of our own asks for a stream and must get, byte for byte, a chunked head, what was written
/// after that, and the end.
final class StreamSelfCheck {
    /// What the client asks for; nobody else can know it.
    let target: [UInt8]

    private static let chunk = [UInt8]("5\r\nhello\r\n".utf8)
    private let mode: StreamMode
    private let client: Int32
    private var channel: (any StreamChannel)?
    private var received: [UInt8] = []
    private var isOver = false

    /// Sends the request on `client`, a connection to the daemon that it takes over; nil if that is not possible.
    init?(_ mode: StreamMode, on client: Int32?) {
        self.mode = mode
        var random = SystemRandomNumberGenerator()
        target = [UInt8]("/self-check-\(random.next())".utf8)
        guard let client else { return nil }
        self.client = client
        let request = [UInt8]("GET ".utf8) + target + [UInt8](" HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        guard write(request, to: client) else {
            close(client)
            return nil
        }
    }

    deinit { close(client) }

    /// The answer to the client's request.
    var answer: HTTPAnswer {
        .stream(fields: []) { [weak self] channel in
            // One that begins when the check is over already must not stay suspended.
            if let self { self.channel = channel } else { channel.end() }
        }
    }

    /// Drives the daemon by `run` until the check is through.
    ///
    /// - Returns: whether streams can be written in this mode.
    func passes(within patience: Duration, clock: () -> Instant, run: () -> Void) -> Bool {
        // A daemon cannot be stopped while a connection is suspended, so it must not stay so in any case.
        defer { channel?.end() }
        let deadline = clock() + patience
        func runs(until isDone: () -> Bool) -> Bool {
            while clock() < deadline {
                run()
                receive()
                if isDone() { return true }
                awaitInput()
            }
            return false
        }
        guard runs(until: { headLength != nil && channel != nil }), let channel, let headLength,
            mode != .detached || isDetached(channel, runs),
            write(StreamSelfCheck.chunk, to: channel.descriptor)
        else { return false }
        let head = String(decoding: received[..<headLength], as: UTF8.self).lowercased()
        guard head.hasPrefix("http/1.1 200 "), head.contains("\r\ntransfer-encoding: chunked\r\n"),
            runs(until: { received.count == headLength + StreamSelfCheck.chunk.count }),
            write(BodyFraming.chunked.end, to: channel.descriptor)
        else { return false }
        channel.end()
        return runs(until: { isOver })
            && Array(received[headLength...]) == StreamSelfCheck.chunk + BodyFraming.chunked.end
    }

    /// Whether the daemon lets go of the connection.
    private func isDetached(_ channel: any StreamChannel, _ runs: (() -> Bool) -> Bool) -> Bool {
        guard let stream = channel as? DetachedStream else { return false }
        return runs { stream.isForgotten }
    }

    private var headLength: Int? {
        let end = [UInt8]("\r\n\r\n".utf8)
        for start in received.indices.dropLast(3) where received[start...].starts(with: end) {
            return start + end.count
        }
        return nil
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe recv(client, &buffer, buffer.count, WSB_MSG_DONTWAIT)
            guard count > 0 else {
                isOver = isOver || count == 0
                return
            }
            received.append(contentsOf: buffer[..<count])
        }
    }

    /// The daemon's side is ready within moments; a pause keeps the wait from burning the processor.
    private func awaitInput() {
        var client = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&client, 1, 1)
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        unsafe send(descriptor, bytes, bytes.count, WSB_MSG_NOSIGNAL) == bytes.count
    }
}

extension HTTPServer {
    /// Checks that streams can be written as the settings ask; if not, they are in the next best mode from now on.
    ///
    /// To be called before the loop runs.
    package func checkStreams(within patience: Duration = .seconds(2)) {
        for mode in streamMode.fallbacks {
            streamMode = mode
            if mode == .pulled || passesCheck(within: patience) { break }
        }
    }

    private func passesCheck(within patience: Duration) -> Bool {
        selfCheck = StreamSelfCheck(streamMode, on: connectDirectly())
        defer {
            selfCheck = nil
            run()
        }
        return selfCheck?.passes(within: patience, clock: { loop.now }, run: run) ?? false
    }
}
