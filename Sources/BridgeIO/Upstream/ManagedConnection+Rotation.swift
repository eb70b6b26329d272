internal import BridgeCore

/// One socket takes the place of another.
extension ManagedConnection {
    /// Hands the socket no more messages, and tells once nothing is on the way on it.
    func drain(_ id: SocketID) {
        draining = id
        fill()
        noteDrained()
    }

    /// The socket goes on as before.
    func undrain() {
        guard draining != nil else { return }
        draining = nil
        fill()
    }

    func noteDrained() {
        guard let id = draining, outbox.newestOut == nil, !schedule.waits(for: id) else { return }
        tell(requests.waits(on: id) ? .flushed(id) : .drained(id))
    }

    /// Has messages go out on this socket from now on.
    func adopt(_ id: SocketID) {
        draining = nil
        let former = line
        line = line(id)
        otherLines.removeAll { $0.id == id }
        if let former { otherLines.append(former) }
        reachability.closed()
        returnInFlight(closeCode: nil, isReplaced: true)
        if machine.outlook.standing == .open, let line { lineOpened(line) }
        fill()
    }
}
