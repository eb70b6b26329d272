internal import CCURL

/// HTTP requests of our own to anybody, on the loop: libcurl's multi interface.
///
/// libcurl says which descriptors to watch and how long to wait, and is told what came. Names are looked up on
/// threads of its own. It is loaded with the first request.
@safe package final class Transfers {
    private let loop: Loop
    /// Made with the first request.
    private var multi: UnsafeMutableRawPointer?
    private var watched: [CInt: Watch] = [:]
    /// Not needed any more, and let go of a turn later: one may be the watch that is just reporting.
    private var ended: [Watch] = []
    private var timer: LoopTimer?
    private var running: [UnsafeMutableRawPointer: Unowned] = unsafe [:]
    private var sweep: LoopTimer?

    private struct Unowned {
        unowned let transfer: Transfer
    }

    package init(loop: Loop) {
        self.loop = loop
    }

    isolated deinit {
        guard let multi = unsafe multi else { return }
        unsafe wsbridge_multi_on_socket(multi, nil, nil)
        unsafe wsbridge_multi_on_timer(multi, nil, nil)
        unsafe wsbridge_multi_free(multi)
    }

    /// Sends a request; `completion` is called once, on a later turn, unless the transfer is let go of before.
    ///
    /// Throws when libcurl cannot be loaded.
    func start(
        _ order: Transfer.Order,
        completion: @escaping (Transfer.Outcome) -> Void
    ) throws(Transfer.Failure) -> Transfer {
        let multi = unsafe try readyMulti()
        let transfer = Transfer(order, on: self, completion: completion)
        unsafe running[transfer.easy] = Unowned(transfer: transfer)
        unsafe wsbridge_multi_add(multi, transfer.easy)
        return transfer
    }

    /// The transfer is let go of.
    func end(_ easy: UnsafeMutableRawPointer) {
        guard unsafe running.removeValue(forKey: easy) != nil, let multi = unsafe multi else { return }
        unsafe wsbridge_multi_remove(multi, easy)
    }

    private func readyMulti() throws(Transfer.Failure) -> UnsafeMutableRawPointer {
        if let multi = unsafe multi { return unsafe multi }
        if let fault = unsafe wsbridge_curl_load() {
            throw Transfer.Failure(error: "libcurl cannot be used: \(unsafe String(cString: fault))")
        }
        guard let made = unsafe wsbridge_multi_make() else {
            preconditionFailure("libcurl is out of memory")
        }
        // Unretained: `deinit` takes it back.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe wsbridge_multi_on_socket(made, socketChanged, owner)
        unsafe wsbridge_multi_on_timer(made, timerChanged, owner)
        unsafe multi = unsafe made
        return unsafe made
    }

    // MARK: What libcurl wants

    fileprivate func watch(_ descriptor: CInt, for wish: CInt) {
        guard wish != CURL_POLL_REMOVE else {
            guard let watch = watched.removeValue(forKey: descriptor) else { return }
            watch.stop()
            ended.append(watch)
            return sweepLater()
        }
        if watched[descriptor] == nil {
            watched[descriptor] = Watch(loop: loop, descriptor: descriptor) { [unowned self] in
                came($0, on: descriptor)
            }
        }
        // Without a descriptor to spare nothing comes, and the deadline of the attempt ends it.
        watched[descriptor]?.watch(for: wish)
    }

    fileprivate func wait(milliseconds: Int) {
        guard milliseconds >= 0 else {
            timer = nil
            return
        }
        // Never at once: libcurl must not be called from within its callback, nor keep others from their turn.
        timer = loop.startTimer(after: .milliseconds(max(milliseconds, 1))) { [unowned self] in
            act(on: CURL_SOCKET_TIMEOUT, 0)
        }
    }

    private func sweepLater() {
        guard sweep == nil else { return }
        sweep = loop.startTimer(after: .zero) { [unowned self] in
            sweep = nil
            ended = []
        }
    }

    // MARK: What came

    private func came(_ what: FilePoll.Interest, on descriptor: CInt) {
        var events: CInt = 0
        if what.contains(.reading) { events |= CURL_CSELECT_IN }
        if what.contains(.writing) { events |= CURL_CSELECT_OUT }
        if what.contains(.hangUp) { events |= CURL_CSELECT_ERR }
        act(on: descriptor, events)
    }

    private func act(on descriptor: CInt, _ events: CInt) {
        guard let multi = unsafe multi else { return }
        unsafe wsbridge_multi_act(multi, descriptor, events)
        var code = CURLE_OK
        while let easy = unsafe wsbridge_multi_next_over(multi, &code) {
            let transfer = unsafe running[easy]?.transfer
            unsafe end(easy)
            transfer?.ended(code)
        }
    }
}

/// Called from within calls into libcurl, on the loop, like the next one.
private nonisolated func socketChanged(
    _: UnsafeMutableRawPointer?,
    descriptor: CInt,
    wish: CInt,
    owner: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let owner = unsafe owner else { return 0 }
    let transfers = unsafe Unmanaged<Transfers>.fromOpaque(owner).takeUnretainedValue()
    onLoop(with: (transfers, descriptor, wish)) { $0.watch($1, for: $2) }
    return 0
}

private nonisolated func timerChanged(
    _: UnsafeMutableRawPointer?,
    milliseconds: Int,
    owner: UnsafeMutableRawPointer?
) -> CInt {
    guard let owner = unsafe owner else { return 0 }
    let transfers = unsafe Unmanaged<Transfers>.fromOpaque(owner).takeUnretainedValue()
    onLoop(with: (transfers, milliseconds)) { $0.wait(milliseconds: $1) }
    return 0
}
