internal import WebSocketProtocol

/// Bounds the answers that wait to be written, so that a flood of questions costs neither memory nor bandwidth.
///
/// Every question is answered while few answers wait; beyond that only the newest is, as RFC 6455 §5.5.3 allows
/// for pings.
struct AnswerBacklog<Question: Sendable>: Sendable {
    /// Answers handed out and not yet written, at most.
    private static var mostAnswers: Int { 64 }
    /// Their payloads come to less than this before another is handed out.
    private static var mostBytes: Int { 64 << 10 }

    /// The sizes of answers that wait to be written, oldest first.
    private var unwritten: [Int] = []
    private var unwrittenBytes = 0
    private var newest: Question?

    private var hasRoom: Bool {
        unwritten.count < AnswerBacklog.mostAnswers && unwrittenBytes < AnswerBacklog.mostBytes
    }

    /// A question came: the one to answer now, if any.
    mutating func asked(_ question: Question) -> Question? {
        guard hasRoom else {
            newest = question
            return nil
        }
        return question
    }

    /// An answer with so much payload was handed out to be written.
    mutating func answered(bytes: Int) {
        unwritten.append(bytes)
        unwrittenBytes += bytes
    }

    /// The kernel took the oldest answer: the question to answer now, if any.
    mutating func written() -> Question? {
        guard !unwritten.isEmpty else { return nil }
        unwrittenBytes -= unwritten.removeFirst()
        guard hasRoom, let question = newest else { return nil }
        newest = nil
        return question
    }
}

/// Pings, which are answered with their payload.
typealias PongBacklog = AnswerBacklog<[UInt8]>

extension AnswerBacklog<[UInt8]> {
    /// A ping came: the payload to answer with now, if any.
    mutating func pinged(_ payload: [UInt8]) -> [UInt8]? {
        let answer = asked(payload)
        if let answer { answered(bytes: answer.count) }
        return answer
    }

    /// The kernel took a pong: the payload to answer with now, if any.
    mutating func pongWritten() -> [UInt8]? {
        let answer = written()
        if let answer { answered(bytes: answer.count) }
        return answer
    }
}
