internal import WebSocketProtocol

/// How a connection proves that its peer is alive: what the configuration says under `heartbeat`, with its defaults.
package struct HeartbeatSettings: Equatable, Sendable {
    /// When the first heartbeat of a connection is sent.
    package enum First: String, CaseIterable, Sendable {
        /// One interval after ready.
        case interval
        /// A random part of the interval after ready, so that many bridges do not beat in step.
        case random
    }

    /// What a heartbeat is.
    package enum Beat: Equatable, Sendable {
        /// A ping frame, which every WebSocket answers with a pong (RFC 6455 §5.5.2).
        case ping
        /// A message that the peer's application understands.
        case message(MessageTemplate)
        /// Nothing: the peer is listened to alone.
        case none
    }

    /// What shows that the peer is alive.
    package enum Life: String, CaseIterable, Sendable {
        /// Whatever arrives.
        case any
        /// Any message, and an answer; the frames of the protocol do not, as one that pings by itself may.
        case message
        /// Only an answer.
        case answer
    }

    /// From one heartbeat to the next, and the time each has to be answered; zero: none are sent.
    package var interval = Duration.seconds(20)
    /// Consecutive heartbeats without an answer before the connection counts as lost; at least 1.
    package var missLimit = 2
    package var first = First.interval
    package var send = Beat.ping
    /// What the answer is; nil: a pong for a ping, `pong` for a text, nothing at all for none.
    package var expect: Matcher?
    /// Sent whenever a message matched `expect`.
    package var reply: MessageTemplate?
    package var alive = Life.any
    /// Sent in a close frame when the connection is lost; nil: the socket is just dropped.
    package var closeCode: UInt16?

    package init() {}
}

extension HeartbeatSettings {
    /// The messages that are answers, which nobody else gets to see.
    var answer: Matcher? {
        if let expect { return expect }
        switch send {
        case .message(let template) where template.kind == .text: return .equals("pong")
        case .ping, .message, .none: return nil
        }
    }

    /// A pong is the answer.
    var isAnsweredByPong: Bool { send == .ping && expect == nil }

    /// All that is made of templates.
    var templates: [MessageTemplate] {
        if case .message(let template) = send { return [template] + (reply.map { [$0] } ?? []) }
        return reply.map { [$0] } ?? []
    }
}
