internal import WebSocketProtocol

/// What `wsbridge tail` is to do.
package struct TailOrder: Equatable, Sendable {
    /// How events are printed.
    package enum Format: String, CaseIterable, Sendable {
        /// Payloads alone, each with a line feed; binary ones in base64.
        case raw
        /// Server-sent events.
        case sse
        /// Server-sent events whose data are JSON records.
        case json
        /// JSON records, one a line.
        case ndjson
    }

    /// Where the stream begins.
    package enum Start: Equatable, Sendable {
        case position(StartPosition)
        case ago(Duration)
    }

    package var endpoint: BridgeEndpoint
    /// Nil: the only one, or `default`.
    package var connection: String?
    package var start = Start.position(.now)
    package var format = Format.raw
    /// As the bridge reads it; nil: the bridge's default.
    package var types: String?

    package init(endpoint: BridgeEndpoint) {
        self.endpoint = endpoint
    }

    /// Asks for the stream from where `cursor` stands.
    package func request(_ cursor: TailCursor) -> ClientRequest {
        var query: [(String, String)] = []
        // Only server-sent events have ids, without which there is no coming back, and only JSON keeps CR: whatever is
        // printed, such are read.
        if format != .sse { query.append(("format", "json")) }
        if let types { query.append(("types", types)) }
        var fields = endpoint.authorization
        if !cursor.lastID.isEmpty {
            fields.append(HTTPField("Last-Event-ID", cursor.lastID))
        } else if let since = cursor.since {
            query.append(("since", since))
        }
        return ClientRequest("GET", BridgeEndpoint.path(connection, "events", query), fields: fields)
    }
}

/// Where a stream that is followed stands, over all its interruptions.
package struct TailCursor: Equatable, Sendable {
    /// The newest id; empty before the first.
    package var lastID = ""
    private let start: TailOrder.Start
    /// When the first stream was asked for.
    private var openedAt: WallTime?

    package init(_ start: TailOrder.Start) {
        self.start = start
    }

    /// A stream was opened that had been asked for at `time`.
    ///
    /// The first one counts: what is relative to the present is relative to that for as long as there is no id.
    package mutating func opened(at time: WallTime) {
        if openedAt == nil { openedAt = time }
    }

    /// The value of `since`, for as long as there is no id; nil: from now on.
    var since: String? {
        switch (start, openedAt) {
        case (.position(.now), let time): time?.text
        case (.ago(let duration), nil): duration.text
        case (.ago(let duration), let time?): (time - duration).text
        case (.position(.start), _): "start"
        case (.position(.after(let id)), _): id.text
        case (.position(.since(let time)), _): time.text
        case (.position(.last), _): nil
        }
    }
}
