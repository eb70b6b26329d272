internal import CUV
internal import Glibc

/// The reading end of a pipe, and what came out of it, up to a limit.
@safe final class PipeIntake {
    private(set) var bytes: [UInt8] = []
    /// More came than is kept.
    private(set) var isOverfull = false
    /// For the writer; closed by `closeWriter`.
    private(set) var writer: CInt

    private let reader: CInt
    private let limit: Int
    private let onOverfull: () -> Void
    private var poll: FilePoll?
    private var taken = 0

    /// Makes a pipe and watches it; throws what the system says.
    ///
    /// Do not let go of it from within `onOverfull`.
    ///
    /// What comes beyond `limit` bytes is read, so that the writer is not kept waiting, and dropped, after telling
    /// `onOverfull` once.
    init(
        loop: Loop,
        limit: Int,
        onOverfull: @escaping () -> Void = {}
    ) throws(ChildProcess.StartFailure) {
        var ends: [CInt] = [-1, -1]
        // Neither end is inherited by programs that are started meanwhile.
        let status = unsafe uv_pipe(&ends, CInt(UV_NONBLOCK_PIPE.rawValue), 0)
        guard status == 0 else { throw ChildProcess.StartFailure(error: errorText(status)) }
        (reader, writer) = (ends[0], ends[1])
        self.limit = limit
        self.onOverfull = onOverfull
        let poll = FilePoll(loop: loop, descriptor: reader) { [weak self] _ in self?.readSome() }
        self.poll = poll
        poll.watch(for: .reading)
    }

    isolated deinit {
        closeWriter()
        poll = nil
        close(reader)
    }

    /// Ours is not needed once a program has its copy, and would keep the end from showing; idempotent.
    func closeWriter() {
        guard writer >= 0 else { return }
        close(writer)
        writer = -1
    }

    /// Takes what is in the pipe now.
    func drain() {
        while !isOverfull, readSome() {}
    }

    /// True while there may be more.
    @discardableResult private func readSome() -> Bool {
        guard poll != nil else { return false }
        let count = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 * 1024) { piece in
            let count = unsafe read(reader, piece.baseAddress, piece.count)
            if count > 0 { unsafe bytes.append(contentsOf: piece.prefix(min(count, limit - bytes.count))) }
            taken += max(count, 0)
            return count
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) {
            // The end, which would be reported again and again.
            poll = nil
        }
        if taken > limit, !isOverfull {
            isOverfull = true
            onOverfull()
        }
        return count > 0
    }
}
