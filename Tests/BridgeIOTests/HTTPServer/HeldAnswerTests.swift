import BridgeCore
import BridgeIO
import Glibc
import Testing

@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct `An answer that is held` {
    private func answer(_ status: Int, _ text: String = "") -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.body = Array(text.utf8)
        return response
    }

    private func openDescriptors() -> Int {
        (0..<Int32(1024)).count { fcntl($0, F_GETFD) != -1 }
    }

    @Test func `is sent when it is given`() throws {
        let service = try HoldingService()
        let client = service.client(HoldingService.post("a"))
        service.run { service.held.count == 1 }
        #expect(client.received.isEmpty)
        service.held[0].give(answer(200, "late"))
        service.run { client.text.hasSuffix("late") }
        #expect(client.text.hasPrefix("HTTP/1.1 200 "))
        service.run { service.server?.heldAnswerCount == 0 }
        service.stop()
    }

    @Test func `may be given at once`() throws {
        let service = try HoldingService()
        service.onRequest = { $0.give(answer(200, "now")) }
        let client = service.client(HoldingService.post("a"))
        service.run { client.text.hasSuffix("now") && service.server?.heldAnswerCount == 0 }
        service.stop()
    }

    @Test func `is the first that was given`() throws {
        let service = try HoldingService()
        let client = service.client(HoldingService.post("a"))
        service.run { service.held.count == 1 }
        service.held[0].give(answer(200, "first"))
        service.held[0].give(answer(500, "second"))
        service.run { client.text.hasSuffix("first") }
        service.held[0].give(answer(500, "third"))
        #expect(!client.text.contains("500"))
        service.stop()
    }

    @Test func `leaves the connection to further requests`() throws {
        let service = try HoldingService()
        let client = service.client(HoldingService.post("0"))
        for number in 1...20 {
            service.run { service.held.count == number }
            service.held[number - 1].give(answer(200, "answer \(number)."))
            service.run { client.text.hasSuffix("answer \(number).") }
            client.send(HoldingService.post("\(number)"))
        }
        service.run { service.held.count == 21 }
        #expect(service.bodies == (0...20).map(String.init))
        service.stop()
    }

    @Test func `keeps requests that were sent behind it waiting, in their order`() throws {
        let service = try HoldingService()
        let client = service.client(
            HoldingService.post("1"),
            HoldingService.post("2"),
            HoldingService.post("3")
        )
        for number in 1...3 {
            service.run { service.held.count == number }
            #expect(service.bodies.count == number)
            service.held[number - 1].give(answer(200, "answer \(number)."))
            service.run { client.text.hasSuffix("answer \(number).") }
        }
        #expect(service.bodies == ["1", "2", "3"])
        service.stop()
    }

    @Test func `may be given to many, in any order`() throws {
        let service = try HoldingService()
        let clients = (0..<200).map { service.client(HoldingService.post("\($0)")) }
        service.run { service.held.count == 200 }
        for (held, body) in zip(service.held, service.bodies).reversed() {
            held.give(answer(200, "<\(body)>"))
        }
        service.run { clients.allSatisfy { $0.text.hasSuffix(">") } }
        for (number, client) in clients.enumerated() { #expect(client.text.hasSuffix("<\(number)>")) }
        service.stop()
    }

    @Test func `is given up when its client leaves, and nothing of it stays`() throws {
        let service = try HoldingService()
        // Older than the others and kept open: what is reaped must not depend on it.
        let older = service.client(HoldingService.post("older"))
        service.run { service.held.count == 1 }
        service.held[0].give(answer(200, "older."))
        service.run { older.text.hasSuffix("older.") }
        let before = openDescriptors()
        let clients = (0..<50).map { service.client(HoldingService.post("\($0)")) }
        service.run { service.held.count == 51 }
        for client in clients { client.leave() }
        service.run { service.server?.heldAnswerCount == 0 && openDescriptors() <= before }
        #expect(service.lastCalls == 50)
        service.held[1].give(answer(200))
        older.send(HoldingService.post("still there"))
        service.run { service.bodies.last == "still there" }
        service.stop()
    }

    @Test func `may be a last word to a client that hung up`() throws {
        let service = try HoldingService()
        service.lastWord = answer(202, "as far as I know")
        let client = service.client(HoldingService.post("a"))
        service.run { service.held.count == 1 }
        client.finish()
        service.run { client.hasEnded }
        #expect(client.text.hasSuffix("as far as I know"))
        #expect(service.lastCalls == 1)
        service.run { service.server?.heldAnswerCount == 0 }
        service.stop()
    }

    @Test func `that is still owed when the server stops is given up`() throws {
        let service = try HoldingService()
        let clients = (0..<10).map { service.client(HoldingService.post("\($0)")) }
        service.run { service.held.count == 10 }
        service.stop()
        service.run { clients.allSatisfy { $0.hasEnded } }
        #expect(clients.allSatisfy { $0.received.isEmpty })
        #expect(service.lastCalls == 10)
        service.held[0].give(answer(200))
    }

    @Test func `may be a last word when the server stops`() throws {
        let service = try HoldingService()
        service.lastWord = answer(503, "stopping")
        let more = HoldingService.post("more")
        let clients = (0..<10).map { service.client(HoldingService.post("\($0)"), more) }
        service.run { service.held.count == 10 }
        service.stop()
        service.run { clients.allSatisfy { $0.hasEnded } }
        #expect(clients.allSatisfy { $0.text.hasSuffix("stopping") })
    }

    @Test(arguments: [nil, "stopping"])
    func `is not waited for once the server is stopping`(word: String?) throws {
        let service = try HoldingService()
        let client = service.client("")
        service.lastWord = word.map { answer(503, $0) }
        client.send(HoldingService.post("early"))
        service.run { service.held.count == 1 }
        service.held[0].give(answer(200, "early."))
        service.run { client.text.hasSuffix("early.") }
        service.server?.stopAccepting()
        client.send(HoldingService.post("late"))
        service.run { service.held.count == 2 && (client.hasEnded || client.text.hasSuffix("stopping")) }
        #expect(client.text.hasSuffix(word ?? "early."))
        service.stop()
    }

    @Test func `that is given just before the server stops is sent`() throws {
        let service = try HoldingService()
        let client = service.client(HoldingService.post("a"))
        service.run { service.held.count == 1 }
        service.held[0].give(answer(503, "stopping"))
        service.run { service.server?.heldAnswerCount == 0 }
        service.stop()
        service.run { client.hasEnded }
        #expect(client.text.hasSuffix("stopping"))
    }

    @Test func `is not cut off by the time that a request has to arrive`() throws {
        let service = try HoldingService(requestTimeout: .milliseconds(20))
        let client = service.client(HoldingService.post("a"))
        service.run { service.held.count == 1 }
        var isLater = false
        // The deadlines are carried out a second apart at most.
        let timer = service.loop.startTimer(after: .milliseconds(1200)) { isLater = true }
        service.run { isLater }
        timer.cancel()
        service.held[0].give(answer(200, "late"))
        service.run { client.text.hasSuffix("late") }
        service.stop()
    }
}
