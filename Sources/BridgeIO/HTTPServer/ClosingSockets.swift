internal import BridgeCore
internal import Glibc

/// Sockets that nothing more is written to, until their clients have everything.
///
/// A socket that is closed while something that came is unread, or when more comes, is reset, and a reset can take from
/// the client what it has not read yet. So our side ends first, and what still comes is thrown away until the client
/// ends its side as well; those that never do are closed all the same.
final class ClosingSockets {
    /// How long a client may take.
    private static let patience = Duration.seconds(5)

    private struct Entry {
        let watch: FilePoll
        let due: Instant
        let address: ClientAddress
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
        guard UnwantedInput.discard(descriptor) else {
            Glibc.close(descriptor)
            return room.closed(address)
        }
        let watch = FilePoll(loop: loop, descriptor: descriptor) { [unowned self] _ in
            if !UnwantedInput.discard(descriptor) { finish(descriptor) }
        }
        watch.watch(for: [.reading, .hangUp])
        let due = loop.now + ClosingSockets.patience
        entries[descriptor] = Entry(watch: watch, due: due, address: address)
        if timer == nil { expire(at: due) }
    }

    /// Closes all that are left, as the process ends; what was written is the kernel's to deliver.
    func closeAll() {
        timer = nil
        for descriptor in Array(entries.keys) { finish(descriptor) }
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
