internal import Glibc

/// Which start of the machine this is.
package enum BootID {
    /// Nil where the kernel does not tell.
    package static var current: String? {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n").first.map(
            String.init
        )
    }
}
