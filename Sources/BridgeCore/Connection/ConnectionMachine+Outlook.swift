extension ConnectionMachine {
    /// What is asked at every message.
    ///
    /// Kept at hand, since whoever holds a machine in an object copies all of it to call anything of it.
    package struct Outlook: Equatable, Sendable {
        package internal(set) var standing = Standing.idle
        /// Messages flow.
        package internal(set) var isReady = false
        package internal(set) var uplink: Outbox.Uplink
        /// What is sent may be messages, too.
        package let carriesMessages: Bool
        /// The connection is there only for those who need it.
        package let followsDemand: Bool

        /// That of a machine to which nothing has happened.
        init(_ settings: ConnectionSettings) {
            uplink = settings.receiveOnly ? .receiveOnly : .away
            carriesMessages = !settings.receiveOnly
            followsDemand = settings.connect == .onDemand
        }
    }
}
