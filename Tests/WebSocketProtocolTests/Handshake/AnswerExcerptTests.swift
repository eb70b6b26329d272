import Testing
import WebSocketProtocol

/// What an upstream says when it refuses the handshake.
@Suite struct `The excerpt of an answer` {
    /// Reads an answer that refuses the handshake, cut into pieces of so many bytes.
    private func excerpt(
        _ head: [String],
        _ body: String,
        pieces: Int = .max,
        url: String = "ws://server.example/chat",
        fields: [HTTPField] = [],
        authorization: String? = nil
    ) throws -> AnswerExcerpt {
        var terms = ClientHandshake.Terms(url: try WebSocketURL(url))
        terms.fields = fields
        var handshake = try ClientHandshake(terms, key: "k", accept: "a", authorization: authorization)
        let lines = ["HTTP/1.1 403 Forbidden"] + head + ["", ""]
        var answer = Array((lines.joined(separator: "\r\n") + body).utf8)[...]
        var excerpt: AnswerExcerpt?
        while !answer.isEmpty {
            let piece = Array(answer.prefix(pieces))
            answer = answer.dropFirst(pieces)
            guard excerpt == nil else {
                excerpt?.take(piece.span)
                continue
            }
            var offset = 0
            do throws(HandshakeFailure) {
                _ = try handshake.read(piece.span, from: &offset)
            } catch {
                excerpt = handshake.excerpt
                excerpt?.take(piece.span, from: offset)
            }
        }
        return try #require(excerpt)
    }

    @Test(arguments: [1, 7, 100, 1 << 20])
    func `is complete with its announced length, and holds no more`(pieces: Int) throws {
        let whole = try excerpt(["Content-Length: 5"], "hello and more", pieces: pieces)
        #expect(whole.text == "hello")
        #expect(whole.isComplete)
        let part = try excerpt(["Content-Length: 50"], "hello", pieces: pieces)
        #expect(part.text == "hello")
        #expect(!part.isComplete)
    }

    @Test func `is complete without a body`() throws {
        let none = try excerpt(["Content-Length: 0"], "")
        #expect(none.isComplete)
        #expect(none.text.isEmpty)
    }

    @Test func `without a length is complete when there is enough`() throws {
        let little = try excerpt([], "little")
        #expect(!little.isComplete)
        let much = try excerpt([], String(repeating: "x", count: 600))
        #expect(much.isComplete)
        #expect(much.text == String(repeating: "x", count: 512))
    }

    @Test func `of chunks is complete with the last one`() throws {
        #expect(try excerpt(["Transfer-Encoding: chunked"], "2\r\nno\r\n0\r\n\r\n").isComplete)
        #expect(try !excerpt(["Transfer-Encoding: chunked"], "2\r\nno\r\n").isComplete)
    }

    @Test(arguments: ["-1", "99999999999999999999", "5, 5", "five", ""])
    func `survives a length that is none`(length: String) throws {
        #expect(try excerpt(["Content-Length: \(length)"], "hello").text == "hello")
    }

    @Test(arguments: [1, 3, 1 << 20])
    func `masks what of the request is secret, as a whole and in parts`(pieces: Int) throws {
        let body = "us3r p4ss QmFzaWM= t0ken k3y c00kie qu3ry/1 qu3ry%2F1 &a=qu3ry%2F1 fine"
        let shown = try excerpt(
            [],
            body,
            pieces: pieces,
            url: "ws://us3r:p4ss@server.example/chat?a=qu3ry%2F1",
            fields: [HTTPField("X", "Bearer t0ken"), HTTPField("Cookie", "k3y=c00kie")],
            authorization: "Basic QmFzaWM="
        )
        #expect(shown.text == "*** *** *** *** *** *** *** *** &*** fine")
    }

    @Test func `masks a secret that ends beyond what is shown`() throws {
        let secret = String(repeating: "s", count: 100)
        let body = String(repeating: "x", count: 500) + secret + "after"
        let shown = try excerpt([], body, fields: [HTTPField("X", secret)])
        #expect(shown.text == String(repeating: "x", count: 500) + "***after")
    }

    @Test func `is there only for a refusal`() throws {
        var handshake = try ClientHandshake(
            ClientHandshake.Terms(url: try WebSocketURL("ws://h/")),
            key: "k",
            accept: "a"
        )
        var offset = 0
        let answer = Array("HTTP/1.1 101 x\r\n\r\n".utf8)
        #expect(throws: HandshakeFailure.notUpgraded) { try handshake.read(answer.span, from: &offset) }
        #expect(handshake.excerpt == nil)
    }
}
