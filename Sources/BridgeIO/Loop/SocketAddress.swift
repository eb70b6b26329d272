package import BridgeCore
internal import CUV
internal import Glibc

/// An IPv4 or IPv6 address with its port.
@safe nonisolated package struct SocketAddress: CustomStringConvertible, Sendable {
    private var storage: sockaddr_storage

    /// Copies the address at `pointer`; nil for any family other than IPv4 and IPv6.
    init?(copying pointer: UnsafePointer<sockaddr>?) {
        guard let pointer = unsafe pointer else { return nil }
        storage = sockaddr_storage()
        let size: Int
        // Every kind of address begins with its family.
        switch unsafe Int32(UnsafeRawPointer(pointer).load(as: sa_family_t.self)) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
        }
    }

    /// The address that `literal` (without brackets) and `port` spell, or nil if it is not a literal.
    package init?(literal: String, port: UInt16) {
        storage = sockaddr_storage()
        let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer -> CInt in
            let raw = UnsafeMutableRawPointer(pointer)
            if literal.contains(":") {
                return unsafe uv_ip6_addr(
                    literal,
                    CInt(port),
                    raw.assumingMemoryBound(to: sockaddr_in6.self)
                )
            }
            return unsafe uv_ip4_addr(literal, CInt(port), raw.assumingMemoryBound(to: sockaddr_in.self))
        }
        guard status == 0 else { return nil }
    }

    /// Whether it is an IPv6 address.
    package var isIPv6: Bool { Int32(storage.ss_family) == AF_INET6 }

    /// The address without its port, as `inet_ntop` writes it.
    package var host: String {
        unsafe withSocketAddress { address, _ in
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
            unsafe uv_ip_name(address, &text, text.count)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The port in host byte order.
    package var port: UInt16 {
        unsafe withUnsafeBytes(of: storage) { bytes in
            // Both families keep it big-endian at offset 2.
            unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// The address without its port, as the kernel's messages have it.
    package var networkAddress: NetworkAddress? {
        unsafe withUnsafeBytes(of: storage) { bytes in
            guard isIPv6 else { return unsafe NetworkAddress(Array(bytes[4..<8])) }
            // The scope follows the address.
            let link = unsafe bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
            return unsafe NetworkAddress(Array(bytes[8..<24]), link: link)
        }
    }

    package var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Lends the address to C, with its length, for the duration of `body`.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        return unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, socklen_t(size))
            }
        }
    }
}
