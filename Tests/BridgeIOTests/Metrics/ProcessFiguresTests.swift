import BridgeCore
import BridgeIO
import Glibc
import Testing

@MainActor @Suite(.serialized) struct `What the system says of the process` {
    @Test func `is there in full`() {
        let figures = ProcessFigures.read(at: .now)
        var text = MetricsText()
        for metric in ProcessMetric.allCases { figures.write(metric, to: &text) }
        let lines = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
        #expect(
            lines.map { $0.prefix { $0 != " " } } == [
                "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
                "process_open_fds", "process_max_fds", "process_start_time_seconds",
            ]
        )
        #expect(lines.allSatisfy { !$0.hasSuffix(" 0") })
    }

    @Test func `counts each descriptor, on old and on new kernels`() throws {
        let before = try #require(ProcessFigures.countDescriptors())
        let descriptors = (0..<5).map { _ in dup(STDERR_FILENO) }
        defer { for descriptor in descriptors { close(descriptor) } }
        #expect(ProcessFigures.countDescriptors() == before + 5)
        // Asking in this way opens nothing.
        #expect(ProcessFigures.read(at: .now).openDescriptors == before + 5)
    }
}
