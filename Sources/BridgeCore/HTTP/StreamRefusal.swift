package import WebSocketProtocol

/// How a client is told that there is no room for its stream.
package enum StreamRefusal {
    /// What a browser is told to wait: it would never come back after an error.
    private static let browserRetry = Duration.seconds(30)

    /// The answer that tells of `problem`.
    ///
    /// To a client that names `text/event-stream` it is an event stream with one event, `refused`, and its end.
    package static func response(_ problem: Problem, to head: RequestHead, _ format: StreamFormat)
        -> HTTPResponse
    {
        guard format.isEventStream, MediaRanges(head).namesEventStream else { return HTTPResponse(problem) }
        var json = JSONWriter()
        json.object { problem.write(to: &$0) }
        let opening = "retry: \(browserRetry.milliseconds)\n\nevent: refused\ndata: "
        var response = HTTPResponse(status: 200, exactly: HTTPResponse.streamFields(format))
        response.problem = problem.kind
        response.body = [UInt8](opening.utf8) + json.bytes + [UInt8]("\n\n".utf8)
        return response
    }
}

extension HTTPResponse {
    /// The header fields of every stream in this format.
    package static func streamFields(_ format: StreamFormat) -> [HTTPField] {
        [
            HTTPField("Content-Type", format.contentType),
            HTTPField("Cache-Control", "no-store, no-transform"),
            HTTPField("X-Accel-Buffering", "no"),
            HTTPField("X-Content-Type-Options", "nosniff"),
        ]
    }
}
