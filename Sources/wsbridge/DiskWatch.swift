internal import BridgeCore
internal import BridgeIO

/// Notices that the disk does not answer, which is no failure that anybody reports.
///
/// While nothing is on its way to the store it costs nothing; else one timer.
final class DiskWatch {
    /// How long a piece of work may take before that is called a standstill.
    static let patience = Duration.seconds(5)

    /// The writer has been at the same piece of work for longer than that, and people were told.
    private(set) var isSilent = false
    /// How often that began.
    private(set) var silences = 0

    private let loop: Loop
    private let log: Log
    private let path: String
    /// Since when the writer is at its piece of work; nil: it has none.
    private let busySince: () -> Instant?
    private var timer: LoopTimer?

    init(of path: String, loop: Loop, log: Log, busySince: @escaping () -> Instant?) {
        self.path = path
        self.loop = loop
        self.log = log
        self.busySince = busySince
    }

    /// The writer got something to do.
    func begin() {
        if timer == nil { look(after: DiskWatch.patience) }
    }

    /// Something came back from the writer.
    func advance() {
        guard isSilent else { return }
        isSilent = false
        log.info("the store's disk answers again", ["path": .text(path)])
    }

    func end() {
        timer = nil
    }

    private func look(after delay: Duration) {
        timer = loop.startTimer(after: delay) { [unowned self] in
            timer = nil
            guard let beginning = busySince() else { return }
            let busy = loop.now - beginning
            guard busy >= DiskWatch.patience else { return look(after: DiskWatch.patience - busy) }
            if !isSilent { tell() }
            look(after: .seconds(1))
        }
    }

    private func tell() {
        isSilent = true
        silences += 1
        log.error(
            "the store's disk does not answer: no messages are accepted until it does",
            ["path": .text(path)]
        )
    }
}
