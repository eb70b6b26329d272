internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// Puts what a connection receives and sends, and what happens to it into the event log, and the latter into the log.
final class ConnectionJournal: ConnectionSink {
    private let name: String
    private let index: ConnectionIndex
    /// The URL that is being dialled, if it is known.
    var url: () -> WebSocketURL? = { nil }
    /// Called after each lifecycle event.
    var onHappening: () -> Void = {}
    private let hub: EventHub
    private let log: Log

    init(name: String, index: ConnectionIndex, hub: EventHub, log: Log) {
        self.name = name
        self.index = index
        self.hub = hub
        self.log = log
    }

    @discardableResult func received(_ message: Message, topic: String?) -> EventID {
        hub.append(.message(message), of: index, topic: topic)
    }

    func sent(_ message: Message) {
        hub.sent(message, by: index)
    }

    func happened(_ event: Lifecycle) {
        hub.append(.status(event), of: index)
        log.write(event, of: name, url: url()?.redacted)
        onHappening()
    }

    func remarked(_ remark: SocketRemark) {
        log.write(LogRecord(remark, of: name))
    }
}
