/// What a path leads to, before any connection is looked up.
package struct Endpoint: Equatable, Sendable {
    /// The kinds of resource there are.
    package enum Resource: CaseIterable, Sendable {
        case file
        case health
        case readiness
        case session
        case metrics
        case connectionList
        case connection
        case messages
        case request
        case events
        case mergedEvents
        case subscribers
        case status
        case outbox
        case outboxMessage
        case connect
        case disconnect
        case reconnect
        case pause
        case resume
    }

    package var resource: Resource
    /// The connection that the path names; nil in a short form, and where no connection is meant.
    package var connection: String?
    /// The message of the outbox that the path names.
    package var message: String?

    /// Reads a decoded path: the canonical form below `/v1/connections`, a short one, or that of a file.
    ///
    /// A file that has the path of something else is not reached.
    /// Throws `not-found` (404) for what is not served.
    package init(path: [String], files: PublicFiles) throws(Problem) {
        if path == ["healthz"] {
            self.init(resource: .health)
        } else if path == ["readyz"] {
            self.init(resource: .readiness)
        } else if path == ["v1", "session"] {
            self.init(resource: .session)
        } else if path == ["metrics"] {
            self.init(resource: .metrics)
        } else if path == ["v1", "connections"] {
            self.init(resource: .connectionList)
        } else if path == ["v1", "events"] {
            self.init(resource: .mergedEvents)
        } else if path.count == 3, path.starts(with: ["v1", "connections"]) {
            self.init(resource: .connection, connection: path[2])
        } else if path.count == 4, path.starts(with: ["v1", "connections"]),
            let resource = Resource(ofConnection: path[3])
        {
            self.init(resource: resource, connection: path[2])
        } else if path.count == 5, path.starts(with: ["v1", "connections"]), path[3] == "outbox" {
            self.init(resource: .outboxMessage, connection: path[2], message: path[4])
        } else if path.count == 2, path[0] == "outbox" {
            self.init(resource: .outboxMessage, message: path[1])
        } else if path.count == 1, let resource = Resource(ofConnection: path[0]) {
            self.init(resource: resource)
        } else if files[path] != nil {
            self.init(resource: .file)
        } else {
            throw .notFound("there is nothing at this path")
        }
    }

    private init(resource: Resource, connection: String? = nil, message: String? = nil) {
        self.resource = resource
        self.connection = connection
        self.message = message
    }
}

extension Endpoint.Resource {
    /// The resources that every connection has, by the last segment of their path.
    init?(ofConnection segment: String) {
        switch segment {
        case "messages": self = .messages
        case "request": self = .request
        case "events": self = .events
        case "subscribers": self = .subscribers
        case "status": self = .status
        case "outbox": self = .outbox
        case "connect": self = .connect
        case "disconnect": self = .disconnect
        case "reconnect": self = .reconnect
        case "pause": self = .pause
        case "resume": self = .resume
        default: return nil
        }
    }

    /// The methods that do the resource's work, OPTIONS aside, each with what a request must show for it.
    ///
    /// Where GET answers, HEAD does too. Where connections are not `dynamic`, only the configuration file makes them.
    private func methods(dynamic: Bool) -> [(name: String, need: AccessNeed)] {
        let read = ("GET", AccessNeed.scope(.read))
        let admin = AccessNeed.scope(.admin)
        return switch self {
        case .file, .health, .readiness: [("GET", .nothing)]
        // Who has lost a session must be able to leave it all the same.
        case .session: [("GET", .anyToken), ("POST", .anyToken), ("DELETE", .nothing)]
        case .connection where dynamic: [read, ("PUT", admin), ("DELETE", admin)]
        case .metrics, .connectionList, .connection, .events, .mergedEvents, .subscribers, .status: [read]
        case .messages: [read, ("POST", .scope(.send))]
        case .request: [("POST", .scope(.send))]
        case .outbox, .outboxMessage: [read, ("DELETE", admin)]
        case .connect, .disconnect, .reconnect, .pause, .resume: [("POST", admin)]
        }
    }

    /// The methods that are answered, as `Allow` lists them.
    package func allow(dynamic: Bool) -> String {
        let names = methods(dynamic: dynamic).flatMap { $0.name == "GET" ? ["GET", "HEAD"] : [$0.name] }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }

    /// What a request must show for `method`, OPTIONS aside.
    ///
    /// Throws `method-not-allowed` (405).
    package func need(of method: String, dynamic: Bool) throws(Problem) -> AccessNeed {
        let meant = method == "HEAD" ? "GET" : method
        guard let row = methods(dynamic: dynamic).first(where: { $0.name == meant }) else {
            let isOff = methods(dynamic: true).contains { $0.name == meant }
            throw .methodNotAllowed(
                allow: allow(dynamic: dynamic),
                hint: isOff ? "\(meant) as well where `http.dynamicConnections` is true" : nil
            )
        }
        return row.need
    }
}
