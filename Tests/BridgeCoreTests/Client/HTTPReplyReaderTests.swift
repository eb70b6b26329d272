import BridgeCore
import Testing
import WebSocketProtocol

/// What a reader made of a whole answer.
private struct Answer: Equatable {
    var status: Int?
    var body = ""
    var isOver = false
    var keepsConnection = false
    var failure: HTTPReplyFailure?

    /// Reads the pieces one after the other, and the end of the connection if `isClosed`.
    init(_ pieces: [[UInt8]], isClosed: Bool = false) {
        var reader = HTTPReplyReader()
        do throws(HTTPReplyFailure) {
            for piece in pieces { take(try reader.read(piece)) }
            if isClosed { take(try reader.close()) }
        } catch {
            failure = error
        }
        keepsConnection = reader.keepsConnection
    }

    init(_ text: String, isClosed: Bool = false) {
        self.init([Array(text.utf8)], isClosed: isClosed)
    }

    private mutating func take(_ parts: [HTTPReplyReader.Part]) {
        for part in parts {
            switch part {
            case .head(let reply): status = reply.status
            case .body(let bytes): body += String(decoding: bytes, as: UTF8.self)
            case .end: isOver = true
            }
        }
    }
}

@Suite struct `HTTP reply` {
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
        ("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
        ("HTTP/1.1 200 \r\nContent-Length: 1\r\nConnection: close\r\n\r\nx", "x", false),
        ("HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx", "x", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "x", false),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n"
                + "Content-Length: 2\r\n\r\nok", "ok", true
        ),
        (chunked + "5\r\nhello\r\n0\r\n\r\n", "hello", true),
        (
            chunked
                + "00a;name=\"v\"\r\n0123456789\r\nC \r\n\r\n\r\n\r\n\r\n \r\n!\r\n0\r\nTrailer: x\r\n\r\n",
            "0123456789\r\n\r\n\r\n\r\n \r\n!", true
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200", "x", false),
    ])
    func `is read in whatever pieces it comes`(text: String, body: String, keepsConnection: Bool) {
        let bytes = Array(text.utf8)
        var expected = Answer([])
        expected.status = Answer(text).status
        expected.body = body
        expected.isOver = true
        expected.keepsConnection = keepsConnection
        #expect(expected.status != nil)
        #expect(Answer(text) == expected)
        #expect(Answer(bytes.map { [$0] }) == expected)
        for split in bytes.indices {
            #expect(Answer([Array(bytes[..<split]), Array(bytes[split...])]) == expected)
        }
    }

    @Test(arguments: [
        "220 mail.example.org ESMTP\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        chunked + "\r\n", chunked + "g\r\n", chunked + "-1\r\n", chunked + "1\nx", chunked + "1;a\nx",
        chunked + "1\r\nxy", chunked + "1\r\nx\ry", chunked + "0\r\n\rx", chunked + "1\rx",
    ])
    func `that breaks the rules is refused in whatever pieces it comes`(text: String) {
        #expect(Answer(text).failure == .malformed)
        #expect(Answer(text.utf8.map { [$0] }).failure == .malformed)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 70_000),
        chunked + String(repeating: "f", count: 17) + "\r\n",
        chunked + "1;" + String(repeating: "a", count: 20_000),
        chunked + "0\r\n" + String(repeating: "A: b\r\n", count: 5_000),
    ])
    func `that is out of bounds is refused`(text: String) {
        #expect(Answer(text).failure == .tooLarge)
    }

    @Test func `without a length ends with the connection`() {
        let open = Answer("HTTP/1.1 200 OK\r\n\r\nsome")
        #expect(open.body == "some" && !open.isOver && !open.keepsConnection)
        let closed = Answer("HTTP/1.1 200 OK\r\n\r\nsome", isClosed: true)
        #expect(closed.body == "some" && closed.isOver && closed.failure == nil)
    }

    @Test(arguments: [
        "", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", chunked + "5\r\nhello\r\n",
        chunked + "0\r\n",
    ])
    func `that breaks off is not complete`(text: String) {
        #expect(Answer(text, isClosed: true).failure == .cutOff)
    }

    @Test func `gives fields by name`() {
        let reply = HTTPReply(status: 503, fields: [HTTPField("Retry-After", "7"), HTTPField("A", "b")])
        #expect(reply.value(of: "retry-after") == "7")
        #expect(reply.value(of: "missing") == nil)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `never traps, and reads the same in any pieces`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = [
            "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 C\r\n\r\n", "Transfer-Encoding: chunked\r\n", "\r\n",
            "Content-Length: 3\r\n", "5\r\nhello\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n", ";", "\n",
        ]
        for _ in 0..<300 {
            let bytes =
                (input.number(below: 2) == 0 ? Array(Self.chunked.utf8) : []) + input.bytes(of: pieces)
            let whole = Answer([bytes], isClosed: true)
            let bytewise = Answer(bytes.map { [$0] }, isClosed: true)
            // What comes together with the fault is not handed on any more.
            #expect(bytewise.failure == whole.failure)
            if whole.failure == nil { #expect(bytewise == whole) }
        }
    }
}
