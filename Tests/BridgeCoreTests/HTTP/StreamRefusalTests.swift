import BridgeCore
import StreamTestSupport
import Testing
import WebSocketProtocol

@Suite struct `A refused stream` {
    private let problem = Problem.tooManySubscribers(limit: 3, retryAfter: .seconds(2))

    private func refusal(_ format: StreamFormat = .events, _ fields: String...) -> HTTPResponse {
        StreamRefusal.response(problem, to: request("GET /events", fields: fields), format)
    }

    @Test(arguments: StreamFormat.allCases) func `is 503 with Retry-After`(format: StreamFormat) {
        for response in [refusal(format), refusal(format, "Accept: */*")] {
            #expect(response.status == 503)
            #expect(response.slug == "too-many-subscribers")
            #expect(response.fields.contains(HTTPField("Retry-After", "2")))
        }
    }

    @Test(arguments: [StreamFormat.events, .records])
    func `is a stream to a browser, which would never come back after an error`(format: StreamFormat) throws {
        let response = refusal(format, "Accept: text/event-stream")
        #expect(response.status == 200)
        #expect(response.fields == HTTPResponse.streamFields(format))
        let client = EventSourceParser(response.body)
        #expect(client.reconnectionTime == 30_000)
        #expect(client.events.map(\.type) == ["refused"])
        let data = String(decoding: try #require(client.events.first?.data), as: UTF8.self)
        #expect(data.contains(#""urn:wsbridge:problem:too-many-subscribers""#))
    }

    @Test(arguments: [StreamFormat.recordLines, .payloads])
    func `is no event stream where none was asked for`(format: StreamFormat) {
        #expect(refusal(format, "Accept: text/event-stream").status == 503)
    }

    @Test func `for its filters says so`() {
        let problem = Problem.tooManyFilters(limit: 256, retryAfter: .milliseconds(1500))
        let response = StreamRefusal.response(problem, to: request("GET /events"), .events)
        #expect(response.slug == "too-many-subscribers")
        #expect(response.fields.contains(HTTPField("Retry-After", "2")))
        #expect(response.text.contains("256"))
    }
}
