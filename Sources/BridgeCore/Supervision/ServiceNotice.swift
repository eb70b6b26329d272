/// What the process tells whoever watches over it, in the words of sd_notify(3).
package enum ServiceNotice: Equatable, Sendable {
    /// It listens, or has taken on another configuration.
    case ready(ServiceStanding)
    case standing(ServiceStanding)
    /// It has begun, at this instant, to take on another configuration; `ready` follows in any case.
    case reloading(Instant)
    case stopping
    /// The loop turns.
    case alive

    package var text: String {
        switch self {
        case .ready(let standing): "READY=1\nSTATUS=\(standing.text)"
        case .standing(let standing): "STATUS=\(standing.text)"
        case .reloading(let instant): "RELOADING=1\nMONOTONIC_USEC=\(instant.nanoseconds / 1000)"
        case .stopping: "STOPPING=1\nSTATUS=stopping"
        case .alive: "WATCHDOG=1"
        }
    }
}

/// How many of the connections that are to be up are ready.
package struct ServiceStanding: Equatable, Sendable {
    package var ready: Int
    package var wanted: Int

    package init(ready: Int, wanted: Int) {
        self.ready = ready
        self.wanted = wanted
    }

    var text: String {
        wanted == 0 ? "no connection is to be up all the time" : "\(ready) of \(wanted) connections ready"
    }
}
