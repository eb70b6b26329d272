import BridgeCore
import Testing

/// What is found on a system with these files.
private func limit(_ files: [String: String]) -> MemoryLimit? {
    MemoryLimit { path in files[path].map { Array($0.utf8) } }
}

private func meminfo(_ total: String) -> String {
    "MemFree:        1 kB\nMemTotal:       \(total)\nMemAvailable:   5 kB\n"
}

private let gibibyte = 1 << 30
private let machine = ["/proc/meminfo": meminfo("8388608 kB")]

private func controlGroup(_ bytes: Int) -> MemoryLimit { MemoryLimit(bytes: bytes, origin: .controlGroup) }

@Suite struct `The limit of memory` {
    private func limitInVersion2(_ group: String, _ limits: [String: String]) -> MemoryLimit? {
        var files = machine
        files["/proc/self/cgroup"] = "0::\(group)\n"
        for (folder, text) in limits { files["/sys/fs/cgroup\(folder)/memory.max"] = text + "\n" }
        return limit(files)
    }

    @Test func `is the machine's memory where nothing else limits it`() {
        #expect(limit(machine) == MemoryLimit(bytes: 8 * gibibyte, origin: .machine))
    }

    @Test func `is that of the control group`() {
        #expect(limitInVersion2("/a", ["/a": "1000000"]) == controlGroup(1_000_000))
    }

    @Test func `is the lowest of all control groups around the process`() {
        let limits = ["/a/b/c": "max", "/a/b": "3000", "/a": "2000", "/other": "1", "": "9000"]
        #expect(limitInVersion2("/a/b/c", limits) == controlGroup(2000))
    }

    @Test func `of a container is that of the root which it sees`() {
        #expect(limitInVersion2("/", ["": "4096"]) == controlGroup(4096))
        // Without a namespace of its own it sees the host's path, and nothing there.
        #expect(limitInVersion2("/docker/0123", ["": "4096"]) == controlGroup(4096))
    }

    @Test(arguments: ["max", "", "-", "a lot", "99999999999999999999", "17179869184"])
    func `is the machine's where a control group has none, or a higher one`(text: String) {
        #expect(limitInVersion2("/a", ["/a": text])?.origin == .machine)
    }

    @Test func `is read from version 1, too`() {
        var files = machine
        files["/proc/self/cgroup"] = "12:cpu,cpuacct:/x\n7:memory:/a/b\n1:name=systemd:/y\n0::/z\n"
        files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n"
        #expect(limit(files)?.origin == .machine)
        files["/sys/fs/cgroup/memory/a/memory.limit_in_bytes"] = "5000\n"
        files["/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes"] = "6000\n"
        files["/sys/fs/cgroup/memory/x/memory.limit_in_bytes"] = "1\n"
        #expect(limit(files) == controlGroup(5000))
    }

    @Test func `is none where version 1 writes the largest number and the machine's is not told`() {
        var files = ["/proc/self/cgroup": "7:memory:/\n"]
        files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n"
        #expect(limit(files) == nil)
    }

    @Test(arguments: [
        "", "MemTotal:", "MemTotal: 5 MB\n", "MemTotal: x kB\n", "MemTotal: 99999999999999999 kB\n",
    ])
    func `is not known without files that make sense`(text: String) {
        #expect(limit([:]) == nil)
        #expect(limit(["/proc/meminfo": text, "/proc/self/cgroup": "0::\n:\nx"]) == nil)
    }
}

@Suite struct `The bound of memory` {
    private let limit = MemoryLimit(bytes: 100 << 20, origin: .controlGroup)

    @Test func `is what is configured`() {
        let bound = MemoryBound(configured: 7 << 20, limit: limit)
        #expect(bound.bytes == 7 << 20)
        #expect(bound.source == "memory.maxBytes")
    }

    @Test func `is half of the limit otherwise`() {
        let bound = MemoryBound(configured: nil, limit: limit)
        #expect(bound.bytes == 50 << 20)
        #expect(bound.source == "half of the limit of the control group")
        let machine = MemoryBound(configured: nil, limit: MemoryLimit(bytes: 64 << 30, origin: .machine))
        #expect(machine.bytes == 32 << 30)
        #expect(machine.source == "half of the memory of the machine")
    }

    @Test func `is never less than can be configured`() {
        let bound = MemoryBound(configured: nil, limit: MemoryLimit(bytes: 4096, origin: .controlGroup))
        #expect(bound.bytes == MemoryBound.least)
    }

    @Test func `is a fixed one where the system tells nothing`() {
        let bound = MemoryBound(configured: nil, limit: nil)
        #expect(bound.bytes == 256 << 20)
        #expect(bound.source == "the system does not tell its memory")
    }
}
