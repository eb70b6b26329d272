import WebSocketProtocol

/// A stand-in for deflate that is easy to read: every byte is compressed from two equal ones.
///
/// It refuses the byte `!` as corrupt, and ends a message with a `.` that it kept back.
final class Doubling: MessageInflater, MessageDeflater {
    func inflate(
        _ input: Span<UInt8>,
        into message: inout [UInt8],
        limit: Int
    ) throws(WebSocketFailure) {
        for index in input.indices {
            guard input[index] != UInt8(ascii: "!") else { throw .notDeflate }
            guard message.count + 2 <= limit else { throw .inflatedTooBig }
            message += [input[index], input[index]]
        }
    }

    func finishMessage(into message: inout [UInt8], limit: Int) throws(WebSocketFailure) {
        guard message.count < limit else { throw .inflatedTooBig }
        message.append(UInt8(ascii: "."))
    }

    func deflate(_ message: Span<UInt8>, into output: inout [UInt8]) -> Bool {
        guard message.count.isMultiple(of: 2) else { return false }
        for index in stride(from: 0, to: message.count, by: 2) { output.append(message[index]) }
        return true
    }
}
