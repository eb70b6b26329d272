/// What a path leads to, before any connection is looked up.
package struct Endpoint: Equatable, Sendable {
    /// The kinds of resource there are.
    package enum Resource: CaseIterable, Sendable {
        case file
        case health
        case connectionList
        case connection
        case messages
        case events
        case status
        case connect
        case disconnect
    }

    package var resource: Resource
    /// The connection that the path names; nil in a short form, and where no connection is meant.
    package var connection: String?

    /// Reads a decoded path: the canonical form below `/v1/connections`, a short one, or that of a file.
    ///
    /// A file that has the path of something else is not reached.
    /// Throws `not-found` (404) for what is not served.
    package init(path: [String], files: PublicFiles) throws(Problem) {
        if path == ["healthz"] {
            self.init(resource: .health)
        } else if path == ["v1", "connections"] {
            self.init(resource: .connectionList)
        } else if path.count == 3, path.starts(with: ["v1", "connections"]) {
            self.init(resource: .connection, connection: path[2])
        } else if path.count == 4, path.starts(with: ["v1", "connections"]),
            let resource = Resource(ofConnection: path[3])
        {
            self.init(resource: resource, connection: path[2])
        } else if path.count == 1, let resource = Resource(ofConnection: path[0]) {
            self.init(resource: resource)
        } else if files[path] != nil {
            self.init(resource: .file)
        } else {
            throw .notFound("there is nothing at this path")
        }
    }

    private init(resource: Resource, connection: String? = nil) {
        self.resource = resource
        self.connection = connection
    }
}

extension Endpoint.Resource {
    /// The resources that every connection has, by the last segment of their path.
    init?(ofConnection segment: String) {
        switch segment {
        case "messages": self = .messages
        case "events": self = .events
        case "status": self = .status
        case "connect": self = .connect
        case "disconnect": self = .disconnect
        default: return nil
        }
    }

    /// The method that does the resource's one thing; where it is GET, HEAD answers too.
    private var method: String {
        switch self {
        case .file, .health, .connectionList, .connection, .events, .status: "GET"
        case .messages, .connect, .disconnect: "POST"
        }
    }

    /// The methods that are answered, as `Allow` lists them.
    package var allow: String {
        method == "GET" ? "GET, HEAD, OPTIONS" : "\(method), OPTIONS"
    }

    /// What a token must allow; nil where everyone may come.
    package var scope: AccessScope? {
        switch self {
        case .file, .health: nil
        case .connectionList, .connection, .events, .status: .read
        case .messages: .send
        case .connect, .disconnect: .admin
        }
    }

    /// Whether `method` is answered here, OPTIONS aside.
    func answers(_ method: String) -> Bool {
        method == self.method || (method == "HEAD" && self.method == "GET")
    }
}
