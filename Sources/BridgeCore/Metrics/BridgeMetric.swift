/// The families that concern no single connection.
package enum BridgeMetric: CaseIterable, Sendable {
    case build
    case requests, requestsInFlight, refusals, clients, clientsRefused
    case streams, streamsEnded
    case memoryLimit, memoryUsed
    case turns
    case storageUp, storageGroupTime, storageGroupSize, storageFailures, storageStalled
    case processorTime, residentMemory, virtualMemory, openDescriptors, mostDescriptors, startTime

    /// Only where there is a store.
    package var isOfStore: Bool {
        switch self {
        case .storageUp, .storageGroupTime, .storageGroupSize, .storageFailures, .storageStalled: true
        case .build, .requests, .requestsInFlight, .refusals, .clients, .clientsRefused, .streams,
            .streamsEnded,
            .memoryLimit, .memoryUsed, .turns, .processorTime, .residentMemory, .virtualMemory,
            .openDescriptors, .mostDescriptors, .startTime:
            false
        }
    }

    package var family: MetricFamily {
        switch self {
        case .build: MetricFamily("wsbridge_build_info", .gauge, "1, with the version of the program.")
        case .requests:
            MetricFamily(
                "wsbridge_http_requests_total",
                .counter,
                "Requests that were answered, streams included."
            )
        case .requestsInFlight:
            MetricFamily(
                "wsbridge_http_requests_in_flight",
                .gauge,
                "Requests that have begun and are not wholly answered, streams aside."
            )
        case .refusals:
            MetricFamily(
                "wsbridge_http_refusals_total",
                .counter,
                "Requests that were answered with a problem."
            )
        case .clients: MetricFamily("wsbridge_http_connections", .gauge, "Connections of clients.")
        case .clientsRefused:
            MetricFamily(
                "wsbridge_http_connections_refused_total",
                .counter,
                "Connections of clients for which there was no room."
            )
        case .streams: MetricFamily("wsbridge_streams", .gauge, "Open event streams.")
        case .streamsEnded:
            MetricFamily(
                "wsbridge_streams_ended_total",
                .counter,
                "Event streams that ended, by what ended them."
            )
        case .memoryLimit:
            MetricFamily(
                "wsbridge_memory_limit_bytes",
                .gauge,
                "What histories, outboxes and streams may hold."
            )
        case .memoryUsed:
            MetricFamily(
                "wsbridge_memory_used_bytes",
                .gauge,
                "What histories, outboxes, streams and others hold."
            )
        case .turns:
            MetricFamily(
                "wsbridge_loop_turn_seconds",
                .histogram,
                "How long the event loop was busy at a time, so that everyone else had to wait."
            )
        case .storageUp:
            MetricFamily("wsbridge_storage_up", .gauge, "1 while the store can be written, else 0.")
        case .storageGroupTime:
            MetricFamily("wsbridge_storage_group_seconds", .histogram, "Time to write and sync a group.")
        case .storageGroupSize:
            MetricFamily("wsbridge_storage_group_entries", .histogram, "Changes that were written together.")
        case .storageFailures:
            MetricFamily(
                "wsbridge_storage_failures_total",
                .counter,
                "How often the store became unwritable."
            )
        case .storageStalled:
            MetricFamily(
                "wsbridge_storage_stalled_seconds",
                .gauge,
                "For how long the store has made no progress although there is something to write."
            )
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
