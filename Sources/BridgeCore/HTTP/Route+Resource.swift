extension Route {
    /// The kind of resource that it is about.
    package var resource: Endpoint.Resource {
        switch self {
        case .file: .file
        case .health: .health
        case .readiness: .readiness
        case .metrics: .metrics
        case .session, .beginSession, .endSession: .session
        case .connectionList: .connectionList
        case .put, .remove: .connection
        case .status: .status
        case .events: .events
        case .mergedEvents: .mergedEvents
        case .subscribers: .subscribers
        case .poll, .send: .messages
        case .request: .request
        case .outbox, .dropOutbox: .outbox
        case .message, .dropMessage: .outboxMessage
        case .connect: .connect
        case .disconnect: .disconnect
        case .reconnect: .reconnect
        case .pause: .pause
        case .resume: .resume
        }
    }
}
