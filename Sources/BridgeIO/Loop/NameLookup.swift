internal import CUV
internal import Glibc

/// One question to the system's resolver, asked on libuv's pool; letting go of it ignores the answer.
@safe package final class NameLookup {
    /// The addresses in the system's order (RFC 6724), or what the resolver says of its failure.
    package enum Answer: Sendable {
        case addresses([SocketAddress])
        case failed(String)
    }

    private var completion: ((Answer) -> Void)?
    /// What libuv works on, until it answers.
    private var request: UnsafeMutablePointer<uv_getaddrinfo_t>?

    fileprivate init(loop: Loop, host: String, port: UInt16, completion: @escaping (Answer) -> Void) {
        self.completion = completion
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = WSB_SOCK_STREAM
        unsafe hints.ai_flags = AI_ADDRCONFIG
        // The box outlives the request: its retain is balanced in the callback, which libuv always calls.
        let box = WeakLookup(self)
        unsafe request.pointee.data = Unmanaged.passRetained(box).toOpaque()
        let status = unsafe uv_getaddrinfo(loop.pointer, request, nameFound, host, String(port), &hints)
        if status != 0 {
            unsafe Unmanaged.passUnretained(box).release()
            unsafe request.deallocate()
            failAtOnce(loop: loop, text: errorText(status))
        } else {
            unsafe self.request = unsafe request
        }
    }

    /// A question that still waits for a thread is not asked any more; one that is being asked goes on in vain.
    isolated deinit {
        guard let request = unsafe request else { return }
        unsafe uv_cancel(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
    }

    private var immediate: LoopTimer?

    /// Reports a refused request on a later turn, so that a caller never hears before it holds the lookup.
    private func failAtOnce(loop: Loop, text: String) {
        immediate = loop.startTimer(after: .zero) { [weak self] in self?.finish(.failed(text)) }
    }

    fileprivate func finish(_ answer: Answer) {
        unsafe request = nil
        let completion = completion
        self.completion = nil
        completion?(answer)
    }
}

/// Lets a request that outlives its lookup find out that nobody wants the answer.
private final class WeakLookup {
    weak var lookup: NameLookup?

    init(_ lookup: NameLookup) {
        self.lookup = lookup
    }
}

private nonisolated func nameFound(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?,
    status: CInt,
    list: UnsafeMutablePointer<addrinfo>?
) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    let box = unsafe Unmanaged<WeakLookup>.fromOpaque(data).takeRetainedValue()
    unsafe request.deallocate()
    var addresses: [SocketAddress] = []
    // A hosts file can name one twice.
    var known: Set<String> = []
    var entry = unsafe list
    while let current = unsafe entry {
        let address = unsafe SocketAddress(copying: current.pointee.ai_addr)
        if let address, known.insert(address.description).inserted { addresses.append(address) }
        unsafe entry = current.pointee.ai_next
    }
    unsafe uv_freeaddrinfo(list)
    let answer: NameLookup.Answer = status == 0 ? .addresses(addresses) : .failed(errorText(status))
    onLoop(with: (box, answer)) { $0.lookup?.finish($1) }
}

extension Loop {
    /// Resolves `host` anew; the answer comes on a later turn unless the lookup is let go of before.
    package func resolve(
        host: String,
        port: UInt16,
        _ completion: @escaping (NameLookup.Answer) -> Void
    ) -> NameLookup {
        NameLookup(loop: self, host: host, port: port, completion: completion)
    }
}
