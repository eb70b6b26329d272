internal import BridgeCore
internal import CUV
internal import Glibc

extension SocketStream {
    /// Between which addresses the bytes go; nil unless it is connected over TCP.
    var path: SocketPath? {
        let handle = unsafe UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self)
        var descriptor: CInt = -1
        guard unsafe uv_fileno(handle, &descriptor) == 0 else { return nil }
        let local = unsafe SocketAddress { unsafe getsockname(descriptor, $0, $1) }
        let peer = unsafe SocketAddress { unsafe getpeername(descriptor, $0, $1) }
        guard let local = local?.networkAddress, let peer = peer?.networkAddress else { return nil }
        return SocketPath(local: local, peer: peer)
    }
}

extension SocketAddress {
    /// The address that a call into the kernel names; nil if it fails, or names one of another family.
    fileprivate init?(_ name: (UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> CInt) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let named = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe name(address, &length) == 0 ? SocketAddress(copying: address) : nil
            }
        }
        guard let named else { return nil }
        self = named
    }
}
