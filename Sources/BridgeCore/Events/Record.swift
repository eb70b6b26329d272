package import WebSocketProtocol

/// Names a connection inside the event log; `EventLog.name(of:)` has its name.
///
/// An index is never given to another name.
package struct ConnectionIndex: Hashable, Comparable, Sendable {
    let number: UInt16

    package static func < (left: ConnectionIndex, right: ConnectionIndex) -> Bool {
        left.number < right.number
    }
}

/// An entry of the event log: a message, or a lifecycle event of a connection.
package struct Record: Equatable, Sendable {
    /// Which way a message went.
    package enum Direction: String, Equatable, Sendable {
        /// From the upstream, as are all lifecycle events.
        case received = "in"
        /// To the upstream.
        case sent = "out"
    }

    package enum Payload: Equatable, Sendable {
        case message(Message)
        /// Out of line, so that the many messages do not pay for the size of the few lifecycle events.
        indirect case status(Lifecycle)
    }

    /// Counts all records of the bridge, from 1.
    package let sequence: UInt64
    package let connection: ConnectionIndex
    package let direction: Direction
    package let time: WallTime
    package let topic: String?
    package let payload: Payload

    /// The topic that readers see: messages that no rule gave one have `messages`; lifecycle events have none.
    package var shownTopic: String? {
        switch payload {
        case .message: topic ?? "messages"
        case .status: nil
        }
    }

    /// What it takes of the process' memory, in a history, beside the bytes of its payload.
    package static let overhead = MemoryCost.inQueue(Record.self)

    /// What it counts against `HistoryLimits.maxBytes`: the bytes of the payload.
    package var byteCount: Int {
        switch payload {
        case .message(let message): message.bytes.count
        case .status(let event): event.byteCount
        }
    }
}

extension Lifecycle {
    /// The bytes of its texts, which are all that varies.
    fileprivate var byteCount: Int {
        switch self {
        case .open(let subprotocol, _): subprotocol?.utf8.count ?? 0
        case .closed(_, let reason, _, _): reason.utf8.count
        case .failed(let failure): failure.error.utf8.count
        case .messageExpired(let id), .messageDropped(let id): id.utf8.count
        case .connecting, .ready, .heartbeatMissed, .heartbeatLost, .reconnecting, .gaveUp, .networkLost,
            .networkRestored, .paused, .resumed, .rotated:
            0
        }
    }
}
