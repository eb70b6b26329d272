package import BridgeCore
internal import Glibc

extension ProcessFigures {
    /// What the system says now; `now` is the time of day.
    package static func read(at now: WallTime) -> ProcessFigures {
        var figures = ProcessFigures(
            ticksPerSecond: sysconf(CInt(_SC_CLK_TCK)),
            pageBytes: sysconf(CInt(_SC_PAGESIZE))
        )
        var bounds = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bounds) == 0 {
            figures.mostDescriptors = UInt64(bounds.rlim_cur)
        }
        figures.openDescriptors = openDescriptors()
        figures.record = content("/proc/self/stat").flatMap(ProcessStat.init)
        figures.time = content("/proc/uptime").flatMap(Duration.init(uptime:)).map { (now, $0) }
        return figures
    }

    /// From Linux 6.2 on the folder says how many there are in it; before that they have to be counted.
    private static func openDescriptors() -> Int? {
        var status = stat()
        if unsafe stat(descriptors, &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        return countDescriptors()
    }

    /// Nil where the system does not show them.
    package static func countDescriptors() -> Int? {
        guard let folder = unsafe opendir(descriptors) else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // `.`, `..`, and the folder itself, which is about to be closed.
        return max(0, count - 3)
    }

    private static let descriptors = "/proc/self/fd"

    /// What is in a short file of the system's, which never waits for a disk.
    private static func content(_ path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
