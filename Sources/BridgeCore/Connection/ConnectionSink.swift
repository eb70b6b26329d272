package import WebSocketProtocol

/// Where a connection puts what it receives and sends, and what happens to it: the event log.
///
/// Called on the loop, in the order in which things stand in the log; the sink stamps them with time and id.
package protocol ConnectionSink: AnyObject {
    /// `topic` is what a rule gave it; returns the id of the record that it becomes.
    @discardableResult func received(_ message: Message, topic: String?) -> EventID
    /// The kernel took it.
    func sent(_ message: Message)
    func happened(_ event: Lifecycle)
    /// Nothing for the event log.
    func remarked(_ remark: SocketRemark)
}
