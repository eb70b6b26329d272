/// Turns the peer's bytes into events (RFC 6455 §5–§8, RFC 7692 §7.2.2).
///
/// Refuses what is wrong at the first byte that shows it. A failure and a close frame are final: nothing that
/// follows is looked at. Holds at most one message of `maximumMessageBytes` and one control frame.
package struct FrameDecoder {
    private enum Phase {
        case head
        case payload(FrameHead)
        /// A close frame was read.
        case closed
        case failed(WebSocketFailure)
    }

    private let maximumMessageBytes: Int
    private let inflater: (any MessageInflater)?
    private var phase: Phase = .head
    private var heads: FrameHeadReader
    /// Payload bytes of the frame at hand that are still due.
    private var remaining = 0
    /// The message that is not finished yet.
    private var message: PartialMessage?
    private var control: [UInt8] = []

    /// Makes a decoder for one end of a connection, which is ours; the frames read are the other one's.
    ///
    /// A message longer than `maximumMessageBytes`, joined and inflated, fails with 1009. The `inflater` is
    /// there when permessage-deflate was agreed.
    package init(role: Role, maximumMessageBytes: Int, inflater: (any MessageInflater)? = nil) {
        self.maximumMessageBytes = max(0, maximumMessageBytes)
        self.inflater = inflater
        heads = FrameHeadReader(role: role, allowsCompression: inflater != nil)
    }

    /// A part of a text or binary message was read, and not its end.
    package var isInsideMessage: Bool { message != nil }

    /// Reads `input` from `offset` to the next event, or to its end, which gives nil.
    ///
    /// The caller asks again, with the same input, until it gets nil, and then goes on with the next input at
    /// offset 0. After a failure each further call throws the same one.
    package mutating func next(
        in input: Span<UInt8>,
        from offset: inout Int
    ) throws(WebSocketFailure) -> FrameEvent? {
        do throws(WebSocketFailure) {
            return try read(input, &offset)
        } catch {
            phase = .failed(error)
            (message, control) = (nil, [])
            throw error
        }
    }

    private mutating func read(
        _ input: Span<UInt8>,
        _ offset: inout Int
    ) throws(WebSocketFailure) -> FrameEvent? {
        while true {
            switch phase {
            case .head:
                guard offset < input.count else { return nil }
                let head = try heads.read(input[offset], isMessageOpen: message != nil)
                offset += 1
                if let head { try startFrame(head) }
            case .payload(let head):
                try readPayload(of: head, input, &offset)
                guard remaining == 0 else { return nil }
                phase = .head
                if let event = try endFrame(head) { return event }
            case .closed:
                offset = input.count
                return nil
            case .failed(let failure):
                throw failure
            }
        }
    }

    private mutating func startFrame(_ head: FrameHead) throws(WebSocketFailure) {
        phase = .payload(head)
        remaining = head.length
        switch head.opcode {
        case .text:
            message = partial(.text, head)
            try message?.expect(remaining, isLast: head.isFinal)
        case .binary:
            message = partial(.binary, head)
            try message?.expect(remaining, isLast: head.isFinal)
        case .continuation:
            try message?.expect(remaining, isLast: head.isFinal)
        case .close, .ping, .pong:
            control.reserveCapacity(remaining)
        }
    }

    private func partial(_ kind: Message.Kind, _ head: FrameHead) -> PartialMessage {
        PartialMessage(kind, limit: maximumMessageBytes, inflater: head.isCompressed ? inflater : nil)
    }

    private mutating func readPayload(
        of head: FrameHead,
        _ input: Span<UInt8>,
        _ offset: inout Int
    ) throws(WebSocketFailure) {
        let count = min(remaining, input.count - offset)
        guard count > 0 else { return }
        let chunk = input.extracting(offset..<(offset + count))
        if let key = head.key {
            var plain: [UInt8] = []
            key.rotated(by: head.length - remaining).append(chunk, to: &plain)
            try take(plain.span, of: head)
        } else {
            try take(chunk, of: head)
        }
        offset += count
        remaining -= count
    }

    private mutating func take(_ chunk: Span<UInt8>, of head: FrameHead) throws(WebSocketFailure) {
        if head.opcode.isControl {
            control.append(copying: chunk)
        } else {
            try message?.append(chunk)
        }
    }

    private mutating func endFrame(_ head: FrameHead) throws(WebSocketFailure) -> FrameEvent? {
        switch head.opcode {
        case .text, .binary, .continuation:
            guard head.isFinal, let ended = message.take() else { return nil }
            return .message(try ended.finished())
        case .ping:
            return .ping(takeControl())
        case .pong:
            return .pong(takeControl())
        case .close:
            phase = .closed
            return try FrameDecoder.close(takeControl())
        }
    }

    private mutating func takeControl() -> [UInt8] {
        let payload = control
        control = []
        return payload
    }

    /// §5.5.1 and §7.4: no payload, or a code and then a reason in UTF-8.
    private static func close(_ payload: [UInt8]) throws(WebSocketFailure) -> FrameEvent {
        guard let first = payload.first else { return .close(code: nil, reason: "") }
        guard payload.count >= 2 else { throw .closePayload }
        let code = UInt16(first) << 8 | UInt16(payload[1])
        guard CloseCode.mayBeOnTheWire(code) else { throw .closeCode }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .notUTF8 }
        return .close(code: code, reason: reason)
    }
}
