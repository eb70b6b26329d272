internal import CUV

/// Owns the memory of one libuv handle: closes it when the owner goes, frees it when libuv let go of it.
///
/// libuv keeps a handle until its close callback ran, which may be a turn after the owner is gone. So the
/// owner's reference in `data` is unretained, valid from `init` to `deinit` and nil afterwards.
@safe nonisolated struct Handle<Kind>: ~Copyable {
    /// For calls into libuv while the owner lives.
    let pointer: UnsafeMutablePointer<Kind>

    /// Allocates a handle and lets `start` initialise it (`uv_…_init`), which must succeed.
    init(start: (UnsafeMutablePointer<Kind>) -> CInt) {
        unsafe pointer = .allocate(capacity: 1)
        let status = unsafe start(pointer)
        precondition(status == 0, "libuv cannot initialise a handle: \(errorText(status))")
        unsafe base.pointee.data = nil
    }

    /// Lets callbacks find their owner by `owner(of:)`; call it once, at the end of the owner's `init`.
    func attach(_ owner: AnyObject) {
        unsafe base.pointee.data = Unmanaged.passUnretained(owner).toOpaque()
    }

    deinit {
        unsafe base.pointee.data = nil
        unsafe uv_close(base) { handle in
            unsafe handle?.deallocate()
        }
    }

    /// The same handle as libuv's base type.
    var base: UnsafeMutablePointer<uv_handle_t> {
        unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
    }
}

/// The owner of a handle, as its callbacks find it; nil once the owner is gone.
nonisolated func owner<Owner: AnyObject>(of data: UnsafeMutableRawPointer?, as: Owner.Type) -> Owner? {
    guard let data = unsafe data else { return nil }
    return unsafe Unmanaged<Owner>.fromOpaque(data).takeUnretainedValue()
}

/// What libuv says of a status below zero.
nonisolated func errorText(_ status: CInt) -> String {
    guard let text = unsafe uv_strerror(status) else { return "error \(status)" }
    return unsafe String(cString: text)
}
