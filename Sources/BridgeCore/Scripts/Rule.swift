/// What is done about messages of one kind: an element of `rules`.
package struct Rule: Equatable, Sendable {
    package enum Deed: Equatable, Sendable {
        /// Close, and dial again as after any loss.
        case reconnect
        /// Open the next socket before this one is closed, at the URL that stands at the pointer if there is one.
        case rotate(url: JSONPointer?)
        /// Close for good.
        case stop
    }

    package var condition: Matcher
    package var reply: MessageTemplate?
    package var capture: Capture?
    /// Where the message tells how many milliseconds there are to be between heartbeats.
    package var heartbeatInterval: JSONPointer?
    package var action: Deed?
    /// What the socket is closed with, for an action that does so.
    package var closeCode: UInt16 = 1000
    package var isForwarded = true
    package var topic: TopicTemplate?

    package init(when condition: Matcher) {
        self.condition = condition
    }
}
