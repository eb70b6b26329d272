/// Counts what became of requests: by method, route and status, none of which a client can make more of.
package struct HTTPTally: Sendable {
    /// Where the requests of one method and route are counted.
    package struct Row: Equatable, Sendable {
        fileprivate let index: Int

        /// Of a request that was admitted.
        package init(_ resource: Endpoint.Resource, method: String) {
            let resource =
                Endpoint.Resource.allCases.firstIndex(of: resource) ?? Endpoint.Resource.allCases.count
            let method = HTTPTally.methods.firstIndex(of: method) ?? HTTPTally.methods.count - 1
            index = resource * HTTPTally.methods.count + method
        }

        private init(index: Int) {
            self.index = index
        }

        /// Of what was answered before it was clear what it is about.
        static let unrouted = Row(
            index: (Endpoint.Resource.allCases.count + 1) * HTTPTally.methods.count - 1
        )
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", other]
    private static let other = "other"

    /// Those that are answered; what is not here counts as `other`.
    private static let statuses = [
        200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 411, 412, 413, 414, 415, 416, 417,
        421, 422,
        429, 431, 500, 501, 502, 503, 504, 505,
    ]
    /// The column of each status.
    private static let columns: [UInt8] = (0..<600).map { status in
        UInt8(statuses.firstIndex(of: status) ?? statuses.count)
    }

    private var counts = [UInt64](
        repeating: 0,
        count: (Endpoint.Resource.allCases.count + 1) * methods.count * (statuses.count + 1)
    )
    private var problems: [ProblemKind: UInt64] = [:]
    package private(set) var inFlight = 0

    package init() {}

    /// A request has begun.
    package mutating func began() { inFlight += 1 }

    /// It is wholly answered, or its client is gone, or a stream has begun.
    package mutating func ended() { inFlight -= 1 }

    /// A request is answered; `row` is nil where it was not admitted.
    package mutating func answered(_ row: Row?, status: Int, problem: ProblemKind? = nil) {
        let column =
            HTTPTally.columns.indices.contains(status)
            ? Int(HTTPTally.columns[status]) : HTTPTally.statuses.count
        counts[(row ?? .unrouted).index * (HTTPTally.statuses.count + 1) + column] &+= 1
        if let problem { problems[problem, default: 0] &+= 1 }
    }

    /// Writes the lines of `requests`: those that are not zero.
    package func writeRequests(to text: inout MetricsText) {
        let family = HTTPMetric.requests.family
        var place = 0
        for resource in Endpoint.Resource.allCases.map(\.template) + [HTTPTally.other] {
            for method in HTTPTally.methods {
                for column in 0...HTTPTally.statuses.count {
                    defer { place += 1 }
                    guard counts[place] > 0 else { continue }
                    text.line(family)
                    text.label("method", method)
                    text.label("route", resource)
                    let isKnown = column < HTTPTally.statuses.count
                    text.label("code", isKnown ? String(HTTPTally.statuses[column]) : HTTPTally.other)
                    text.value(counts[place])
                }
            }
        }
    }

    /// Writes a line for each kind of problem there is.
    package func writeRefusals(to text: inout MetricsText) {
        for kind in ProblemKind.allCases {
            text.line(HTTPMetric.refusals.family)
            text.label("problem", kind.rawValue)
            text.value(problems[kind] ?? 0)
        }
    }
}

extension Endpoint.Resource {
    /// The path, with what differs from request to request in braces: the canonical one, also for the short forms.
    package var template: String {
        switch self {
        case .file: "/{file}"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .metrics: "/metrics"
        case .session: "/v1/session"
        case .connectionList: "/v1/connections"
        case .mergedEvents: "/v1/events"
        case .connection: "/v1/connections/{connection}"
        case .messages: "/v1/connections/{connection}/messages"
        case .request: "/v1/connections/{connection}/request"
        case .events: "/v1/connections/{connection}/events"
        case .subscribers: "/v1/connections/{connection}/subscribers"
        case .status: "/v1/connections/{connection}/status"
        case .outbox: "/v1/connections/{connection}/outbox"
        case .outboxMessage: "/v1/connections/{connection}/outbox/{message}"
        case .connect: "/v1/connections/{connection}/connect"
        case .disconnect: "/v1/connections/{connection}/disconnect"
        case .reconnect: "/v1/connections/{connection}/reconnect"
        case .pause: "/v1/connections/{connection}/pause"
        case .resume: "/v1/connections/{connection}/resume"
        }
    }
}
