import BridgeCore
import Testing

@testable import BridgeIO

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Heads that come again` {
    private let service: TestService

    init() throws {
        service = try TestService()
    }

    /// Sends the requests one after the other on one connection, and gives the statuses of the answers.
    private func statuses(_ requests: [String]) throws -> [String] {
        var rest = requests[...]
        let client = try service.client(rest.removeFirst())
        func statuses() -> [String] {
            client.text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
        }
        client.onChange = { [service] in
            guard statuses().count + rest.count == requests.count else { return }
            if let next = rest.popFirst() { client.send(next) } else { service.loop.stop() }
        }
        service.run()
        return statuses()
    }

    private func post(
        _ line: String = "/connect",
        _ fields: String = "Host: localhost\r\n",
        _ body: String = ""
    ) -> String {
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return "POST \(line) HTTP/1.1\r\n\(fields)\(length)\r\n\(body)"
    }

    @Test func `are decided about once, on whatever connection they come`() throws {
        let bodies = ["abc", "def"]
        for _ in 1...2 {
            let answers = try statuses(bodies.map { post("/messages", "Host: localhost\r\n", $0) })
            #expect(answers == ["200", "200"])
        }
        #expect(service.bodies.map { String(decoding: $0, as: UTF8.self) } == bodies + bodies)
        #expect(service.admitted == 1)
        service.stop()
    }

    @Test func `are decided about anew under other rules`() throws {
        #expect(try statuses([post()]) == ["200"])
        service.rules += 1
        #expect(try statuses([post(), post()]) == ["200", "200"])
        #expect(service.admitted == 2)
        service.stop()
    }

    @Test func `are forgotten when many others came since`() throws {
        #expect(try statuses([post(), post()]) == ["200", "200"])
        #expect(service.admitted == 1)
        let others = (0..<256).map { post("/connect", "Host: localhost\r\nX-Number: \($0)\r\n") }
        #expect(try statuses(others).allSatisfy { $0 == "200" })
        #expect(try statuses([post()]) == ["200"])
        #expect(service.admitted == 258)
        service.stop()
    }

    @Test func `and were refused are refused again`() throws {
        let foreign = post("/connect", "Host: elsewhere.example\r\n")
        #expect(try statuses([foreign, foreign, post(), foreign]) == ["421", "421", "200", "421"])
        #expect(service.admitted == 4)
        service.stop()
    }

    @Test(arguments: [
        ("/connect", "Host: localhost\r\nA: b\r\n", "a field more"),
        ("/connect", "host: localhost\r\n", "a name in another case"),
        ("/connect", "Host: localhost:1\r\n", "another value"),
        ("/reconnect", "Host: localhost\r\n", "another target"),
    ])
    func `are not others that are almost the same`(line: String, fields: String, difference: String) throws {
        #expect(try statuses([post(), post(line, fields)]) == ["200", "200"], "\(difference)")
        #expect(service.admitted == 2, "\(difference)")
        service.stop()
    }

    @Test func `that bring something to refuse are never taken for others`() throws {
        let good = post()
        let bad = [
            post("/connect", "Host: localhost\r\nHost: localhost\r\n"),
            post("/connect", "Host: evil.example\r\n"),
            post("/connect", "Host: localhost\r\nOrigin: https://evil.example\r\n"),
        ]
        for other in bad {
            let answers = try statuses([good, other, good])
            #expect(answers.first == "200" && answers.last == "200")
            #expect(answers[1].hasPrefix("4"))
        }
        service.stop()
    }
}

@Suite struct `The image of a head` {
    private func draw(_ parts: [String], on canvas: HeadCanvas = HeadCanvas()) -> HeadCanvas {
        canvas.clear()
        for part in parts {
            unsafe Array(part.utf8).withUnsafeBytes { unsafe canvas.append($0) }
        }
        return canvas
    }

    @Test(arguments: [
        ([], [""]), (["ab", "c"], ["a", "bc"]), (["a", "b"], ["ab"]), (["a", ""], ["a"]),
        (["", "a"], ["a", ""]), (["a"], ["A"]), (["a", "b"], ["b", "a"]), (["12345678"], ["12345679"]),
    ])
    func `differs where the parts do`(one: [String], other: [String]) throws {
        let canvas = draw(one)
        let image = try #require(canvas.image)
        #expect(canvas.shows(image))
        #expect(draw(one).image == image)
        #expect(draw(one).image?.hashValue == image.hashValue)
        #expect(!draw(other, on: canvas).shows(image))
        #expect(canvas.image != image)
    }

    @Test func `is not there of a long head, nor of one that is cut to one that is not`() throws {
        let short = String(repeating: "a", count: 500)
        let image = try #require(draw([short]).image)
        let canvas = draw([short, short, short, ""])
        #expect(canvas.image == nil)
        #expect(!canvas.shows(image))
        #expect(draw([short], on: canvas).shows(image))
    }
}

@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct `Answers that are used again` {
    @Test func `have the bodies of their own requests, also when many are asked for at once`() throws {
        let service = try TestService()
        service.answersWithBody = true
        let count = 100
        func request(_ number: Int) -> String {
            let body = "number \(number)."
            let fields = "Host: localhost\r\nContent-Length: \(body.utf8.count)\r\n"
            return "POST /messages HTTP/1.1\r\n\(fields)\r\n\(body)"
        }
        let numbers = Array(0..<count)
        let clients = try (0..<4).map { _ in try service.client(numbers.map(request).joined()) }
        for client in clients {
            client.onChange = {
                if clients.allSatisfy({ $0.text.contains("number \(count - 1).") }) { service.loop.stop() }
            }
        }
        service.run()
        for client in clients {
            // Each body is followed by the next status line.
            let bodies = client.text.components(after: "number ", before: ".")
            #expect(bodies == numbers.map(String.init))
        }
        service.stop()
    }
}

extension String {
    /// What stands between each `start` and the `end` that follows it.
    fileprivate func components(after start: String, before end: Character) -> [String] {
        split(separator: start, omittingEmptySubsequences: false).dropFirst().map { part in
            String(part.prefix { $0 != end })
        }
    }
}
