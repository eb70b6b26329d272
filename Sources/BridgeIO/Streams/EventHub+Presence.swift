internal import BridgeCore

extension EventHub {
    /// Drops those whose clients have vanished without a word, some time after something was sent to them.
    ///
    /// In most formats something is sent after each silence, so this looks about as often as silences are broken.
    func watchPresence() {
        guard presenceTimer == nil, subscriberCount > 0 else { return }
        let interval = min(max(settings.keepAlive, .seconds(1)), .seconds(15))
        presenceTimer = loop.startTimer(after: interval) { [unowned self] in
            presenceTimer = nil
            for subscriber in allSubscribers where SocketWriter.hasVanished(subscriber.channel.descriptor) {
                drop(subscriber, because: .vanished)
            }
            watchPresence()
        }
    }
}
