/// The families of what the system says of the process.
package enum ProcessMetric: CaseIterable, Sendable {
    case processorTime, residentMemory, virtualMemory
    case openDescriptors, mostDescriptors, startTime

    package var family: MetricFamily {
        switch self {
        case .processorTime:
            MetricFamily("process_cpu_seconds_total", .counter, "User and system CPU time of the process.")
        case .residentMemory: MetricFamily("process_resident_memory_bytes", .gauge, "Resident memory.")
        case .virtualMemory: MetricFamily("process_virtual_memory_bytes", .gauge, "Virtual memory.")
        case .openDescriptors: MetricFamily("process_open_fds", .gauge, "Open file descriptors.")
        case .mostDescriptors: MetricFamily("process_max_fds", .gauge, "File descriptors that there may be.")
        case .startTime:
            MetricFamily("process_start_time_seconds", .gauge, "When the process began, since 1970 in UTC.")
        }
    }
}
