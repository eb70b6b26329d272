/// The families that have a series, or some, for each connection, of what the connection itself knows.
package enum UpstreamMetric: CaseIterable, Sendable {
    case state, ready
    case opens, closes, failures, retries
    case heartbeatsSent, heartbeatsMissed, roundTrip
    case messages, messageBytes
    case outboxMessages, outboxBytes, outboxLimit, outboxByteLimit, outboxAge, outboxWait, expired, dropped

    package var family: MetricFamily {
        switch self {
        case .state:
            MetricFamily(
                "wsbridge_connection_state",
                .gauge,
                "1 for the state that the connection is in, 0 for all others."
            )
        case .ready:
            MetricFamily("wsbridge_connection_ready", .gauge, "1 while messages flow, else 0.")
        case .opens:
            MetricFamily("wsbridge_connection_opens_total", .counter, "Handshakes that succeeded.")
        case .closes:
            MetricFamily(
                "wsbridge_connection_closes_total",
                .counter,
                "Connections that ended, by close code; 1006 is a drop."
            )
        case .failures:
            MetricFamily(
                "wsbridge_connection_failures_total",
                .counter,
                "Attempts that failed, by the phase in which they did."
            )
        case .retries:
            MetricFamily(
                "wsbridge_connection_retries_total",
                .counter,
                "Attempts that were scheduled after a loss."
            )
        case .heartbeatsSent:
            MetricFamily("wsbridge_heartbeats_sent_total", .counter, "Heartbeats that were written.")
        case .heartbeatsMissed:
            MetricFamily(
                "wsbridge_heartbeats_missed_total",
                .counter,
                "Heartbeats without an answer in time."
            )
        case .roundTrip:
            MetricFamily(
                "wsbridge_heartbeat_rtt_seconds",
                .histogram,
                "Time from a heartbeat written to its answer."
            )
        case .messages:
            MetricFamily("wsbridge_messages_total", .counter, "Messages received (in) and sent (out).")
        case .messageBytes:
            MetricFamily("wsbridge_message_bytes_total", .counter, "Payload received (in) and sent (out).")
        case .outboxMessages:
            MetricFamily("wsbridge_outbox_messages", .gauge, "Messages that are not sent yet.")
        case .outboxBytes:
            MetricFamily("wsbridge_outbox_bytes", .gauge, "Payload of the messages that are not sent yet.")
        case .outboxLimit:
            MetricFamily("wsbridge_outbox_limit_messages", .gauge, "Messages that the outbox takes at most.")
        case .outboxByteLimit:
            MetricFamily(
                "wsbridge_outbox_limit_bytes",
                .gauge,
                "Payload that the outbox takes at most; `wsbridge_memory_limit_bytes` may leave less."
            )
        case .outboxAge:
            MetricFamily(
                "wsbridge_outbox_oldest_age_seconds",
                .gauge,
                "Age of the oldest message that is not sent yet; 0 if there is none."
            )
        case .outboxWait:
            MetricFamily(
                "wsbridge_outbox_wait_seconds",
                .histogram,
                "Time from a message accepted to it being written."
            )
        case .expired:
            MetricFamily(
                "wsbridge_outbox_expired_total",
                .counter,
                "Messages that became too old to be sent."
            )
        case .dropped:
            MetricFamily(
                "wsbridge_outbox_dropped_total",
                .counter,
                "Messages that were dropped and not sent."
            )
        }
    }
}
