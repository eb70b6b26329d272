internal import Glibc

/// A thread of the store's own, without signals.
struct StoreThread: ~Copyable {
    private let handle: pthread_t

    /// Runs `work` on a new thread, until it returns.
    init(_ work: sending @escaping () -> Void) throws(StorageError) {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, StoreThread.stackSize)
        // Signals are for the loop: the new thread inherits that it gets none.
        var all = sigset_t()
        var old = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
        // Held by the thread, which releases it when it begins.
        let box = unsafe Unmanaged.passRetained(Box(work))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread,
            &attributes,
            { box in
                if let box = unsafe box { unsafe Unmanaged<Box>.fromOpaque(box).takeRetainedValue().work() }
                return nil
            },
            box.toOpaque()
        )
        guard status == 0 else {
            unsafe box.release()
            throw StorageError(.failing, path: "a thread", detail: SystemError.text(status))
        }
        handle = thread
    }

    /// Waits for its end.
    func join() {
        pthread_join(handle, nil)
    }

    /// Waits for the end of one that nobody has waited for yet.
    static func join(_ thread: borrowing Guarded<StoreThread?>) {
        // Taken out first: waiting with the lock would hold up whoever asks meanwhile.
        let ended = thread.withLock { $0.take() }
        ended?.join()
    }

    /// SQLite's deepest calls, and ours, need a fraction of it.
    private static let stackSize = 512 << 10

    private final class Box {
        let work: () -> Void
        init(_ work: @escaping () -> Void) { self.work = work }
    }
}
