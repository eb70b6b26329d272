internal import BridgeCore
internal import Glibc

/// Wakes one thread that waits for something to do, or for its time.
@safe final class Doorbell: Sendable {
    @safe private struct Parts {
        var mutex = unsafe pthread_mutex_t()
        var condition = pthread_cond_t()
        var hasRung = false
    }

    // C's own locks, which any thread may use, and what is read and written with `mutex` locked alone; this object owns
    // them until it goes, and they never move.
    private nonisolated(unsafe) let parts = UnsafeMutablePointer<Parts>.allocate(capacity: 1)

    init() {
        unsafe parts.initialize(to: Parts())
        unsafe pthread_mutex_init(&parts.pointee.mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(&parts.pointee.condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(&parts.pointee.condition)
        unsafe pthread_mutex_destroy(&parts.pointee.mutex)
        unsafe parts.deallocate()
    }

    /// Has whoever waits, or waits next, go on.
    func ring() {
        unsafe pthread_mutex_lock(&parts.pointee.mutex)
        unsafe parts.pointee.hasRung = true
        unsafe pthread_mutex_unlock(&parts.pointee.mutex)
        // Afterwards: who is woken with the mutex still locked goes to sleep again, and is woken a second time.
        unsafe pthread_cond_signal(&parts.pointee.condition)
    }

    /// Waits until it rings, or for so long; nil: as long as it takes.
    func wait(for limit: Duration?) {
        unsafe pthread_mutex_lock(&parts.pointee.mutex)
        defer { unsafe pthread_mutex_unlock(&parts.pointee.mutex) }
        guard let limit else {
            while unsafe !parts.pointee.hasRung {
                unsafe pthread_cond_wait(&parts.pointee.condition, &parts.pointee.mutex)
            }
            unsafe parts.pointee.hasRung = false
            return
        }
        var due = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &due)
        let nanoseconds = Int64(due.tv_nsec) + max(0, limit.nanoseconds % 1_000_000_000)
        due.tv_sec += Int(max(0, limit.nanoseconds) / 1_000_000_000 + nanoseconds / 1_000_000_000)
        due.tv_nsec = Int(nanoseconds % 1_000_000_000)
        while unsafe !parts.pointee.hasRung {
            if unsafe pthread_cond_timedwait(&parts.pointee.condition, &parts.pointee.mutex, &due) != 0 {
                break
            }
        }
        unsafe parts.pointee.hasRung = false
    }
}
