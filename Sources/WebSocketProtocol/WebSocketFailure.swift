/// The peer broke RFC 6455 or a limit of ours; the connection is to be failed with `code` (§7.1.7).
package struct WebSocketFailure: Error, Equatable, Sendable {
    /// 1002 protocol error, 1007 invalid data, 1009 too big, 1010 unexpected extension.
    package var code: UInt16
    /// One phrase that names the rule, fit for a close reason and a log; never payload.
    package var reason: String

    package init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
