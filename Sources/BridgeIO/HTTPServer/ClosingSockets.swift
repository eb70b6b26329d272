internal import BridgeCore
internal import CUV
internal import Glibc

/// Sockets that nothing more is written to, until their clients have everything.
///
/// A socket that is closed while something that came is unread, or when more comes, is reset, and a reset can take from
/// the client what it has not read yet. So our side ends first, and what still comes is thrown away until the client
/// ends its side as well. Those that never do are closed all the same, and any of them at once where its room is needed.
final class ClosingSockets {
    /// How long a client may be silent before it closes its side, and how long it may take in all.
    private static let (patience, longestPatience) = (Duration.seconds(5), Duration.seconds(10))
    /// What it may still send: as much as a client may like to get rid of before it reads an answer.
    private static let mostUnwanted = 64 << 20

    private final class Entry {
        let watch: FilePoll
        let address: ClientAddress
        let last: Instant
        var due: Instant
        var unwantedBytes = 0

        init(_ watch: FilePoll, of address: ClientAddress, at now: Instant) {
            self.watch = watch
            self.address = address
            last = now + ClosingSockets.longestPatience
            due = now + ClosingSockets.patience
        }
    }

    private let loop: Loop
    private let room: ConnectionRoom
    /// By descriptor.
    private var entries: [Int32: Entry] = [:]
    private var timer: LoopTimer?

    init(loop: Loop, room: ConnectionRoom) {
        self.loop = loop
        self.room = room
    }

    /// Takes over a socket that nobody watches any more; it takes room until it is closed, which may be at once.
    func close(_ descriptor: Int32, of address: ClientAddress) {
        shutdown(descriptor, Int32(SHUT_WR))
        // Most have closed their side already. Not into the loop's buffer, which may be in use.
        guard UnwantedInput.discard(descriptor) else {
            Glibc.close(descriptor)
            return room.closed(address)
        }
        let watch = FilePoll(loop: loop, descriptor: descriptor) { [unowned self] _ in discard(descriptor) }
        watch.watch(for: [.reading, .hangUp])
        let entry = Entry(watch, of: address, at: loop.now)
        entries[descriptor] = entry
        if timer == nil { expire(at: entry.due) }
    }

    /// Closes one, so that another client can be served.
    ///
    /// - Returns: whether there was one.
    func giveUpOne() -> Bool {
        guard let descriptor = entries.first?.key else { return false }
        finish(descriptor)
        return true
    }

    /// Closes all that are left, as the process ends; what was written is the kernel's to deliver.
    func closeAll() {
        timer = nil
        for descriptor in Array(entries.keys) { finish(descriptor) }
    }

    /// Throws away some of what came, as the loop says that there is some; it does so again while there is more.
    private func discard(_ descriptor: Int32) {
        guard let entry = entries[descriptor] else { return }
        let scrap = unsafe UnsafeMutableRawPointer(mutating: loop.readBuffer.baseAddress)
        let count = unsafe recv(descriptor, scrap, loop.readBuffer.count, WSB_MSG_DONTWAIT)
        guard count > 0 else {
            if count == 0 || (errno != EAGAIN && errno != EINTR) { finish(descriptor) }
            return
        }
        entry.unwantedBytes += count
        if entry.unwantedBytes > ClosingSockets.mostUnwanted { return finish(descriptor) }
        entry.due = min(loop.now + ClosingSockets.patience, entry.last)
    }

    private func finish(_ descriptor: Int32) {
        guard let entry = entries.removeValue(forKey: descriptor) else { return }
        entry.watch.stop()
        Glibc.close(descriptor)
        room.closed(entry.address)
    }

    private func expire(at due: Instant) {
        timer = loop.startTimer(after: due - loop.now) { [unowned self] in
            timer = nil
            let now = loop.now
            for (descriptor, entry) in entries where entry.due <= now { finish(descriptor) }
            if let next = entries.values.map(\.due).min() { expire(at: next) }
        }
    }
}
