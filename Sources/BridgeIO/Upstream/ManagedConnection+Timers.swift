internal import BridgeCore

extension ManagedConnection {
    func startTimer(_ id: ConnectionMachine.TimerID, after delay: Duration) {
        timers[id] = surroundings.loop.startTimer(after: delay) { [weak self] in self?.timerFired(id) }
    }

    func cancelTimer(_ id: ConnectionMachine.TimerID) {
        timers.removeValue(forKey: id)?.cancel()
    }

    /// Tells the machine once all input that is there by now was handled, which takes the loop once around.
    ///
    /// The loop looks at its timers before it looks for input: after it was busy for a while, or the process was
    /// stopped, what the timer waits for may long be there.
    private func timerFired(_ id: ConnectionMachine.TimerID) {
        firedTimers.append(id)
        guard firedTimers.count == 1 else { return }
        var hasLooked = false
        let turn = NextTurn(loop: surroundings.loop) { [weak self] in
            guard let self else { return }
            guard hasLooked else {
                hasLooked = true
                inputTurn?.schedule()
                return
            }
            tellFiredTimers()
        }
        inputTurn = turn
        turn.schedule()
    }

    private func tellFiredTimers() {
        let fired = firedTimers
        firedTimers = []
        inputTurn = nil
        noteProgress()
        // Those that were cancelled meanwhile are gone.
        for id in fired where timers.removeValue(forKey: id) != nil { tell(.timerFired(id)) }
    }
}
