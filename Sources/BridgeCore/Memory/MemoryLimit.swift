/// How much memory the process may use at most, and what says so.
package struct MemoryLimit: Equatable, Sendable {
    package enum Origin: Equatable, Sendable {
        /// A control group that the process is in, as containers and services have one.
        case controlGroup
        /// The memory of the machine.
        case machine
    }

    package var bytes: Int
    package var origin: Origin

    package init(bytes: Int, origin: Origin) {
        self.bytes = bytes
        self.origin = origin
    }

    /// The lowest limit that the system's files tell of; nil if none does.
    ///
    /// `content` gives what is in a file, or nil if it cannot be read. What it says is taken as it comes: a file that
    /// makes no sense counts as none.
    package init?(content: (_ path: String) -> [UInt8]?) {
        let groups = ControlGroup.all(in: MemoryLimit.text(content("/proc/self/cgroup")))
        let limits = groups.flatMap(\.limitFiles)
            .compactMap { MemoryLimit.bytes(MemoryLimit.text(content($0))) }
        let machine = MemoryLimit.machineBytes(MemoryLimit.text(content("/proc/meminfo")))
        if let lowest = limits.min(), lowest < machine ?? MemoryLimit.none {
            self.init(bytes: lowest, origin: .controlGroup)
        } else if let machine {
            self.init(bytes: machine, origin: .machine)
        } else {
            return nil
        }
    }

    /// From here on a limit is none; version 1 writes the largest number of pages for that.
    private static let none = 1 << 60

    private static func text(_ bytes: [UInt8]?) -> String {
        String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// What `memory.max` or `memory.limit_in_bytes` says; nil for `max`.
    private static func bytes(_ text: String) -> Int? {
        Int(text.prefix { $0 != "\n" })
    }

    /// `MemTotal` of `/proc/meminfo`.
    private static func machineBytes(_ text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix("MemTotal:") {
            let words = line.split(separator: " ")
            guard words.count == 3, words[2] == "kB", let count = Int(words[1]),
                case (let bytes, false) = count.multipliedReportingOverflow(by: 1024), bytes > 0
            else { return nil }
            return bytes
        }
        return nil
    }
}

/// A control group that the process is in.
private struct ControlGroup {
    private enum Version {
        case one
        case two
    }

    private let version: Version
    /// From the root of the hierarchy that the process sees.
    private let path: [Substring]

    /// Those that can have a limit of memory, out of the lines of `/proc/self/cgroup`: `ID:CONTROLLERS:PATH`.
    static func all(in text: String) -> [ControlGroup] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            let path = fields[2].split(separator: "/")
            if fields[0] == "0", fields[1].isEmpty { return ControlGroup(version: .two, path: path) }
            let hasMemory = fields[1].split(separator: ",").contains("memory")
            return hasMemory ? ControlGroup(version: .one, path: path) : nil
        }
    }

    /// The files of its own limit and of those above it.
    ///
    /// In a container the path may be one that only the host sees; what the container sees is the root then.
    var limitFiles: [String] {
        (0...path.count).reversed().map { count in
            let folder = path[..<count].map { "/" + $0 }.joined()
            return switch version {
            case .one: "/sys/fs/cgroup/memory\(folder)/memory.limit_in_bytes"
            case .two: "/sys/fs/cgroup\(folder)/memory.max"
            }
        }
    }
}
