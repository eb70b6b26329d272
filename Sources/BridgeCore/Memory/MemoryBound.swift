/// What histories, outboxes and streams may hold together, and where that comes from.
package struct MemoryBound: Equatable, Sendable {
    package enum Origin: Equatable, Sendable {
        /// `memory.maxBytes` says so.
        case configuration
        /// Half of what the process may use.
        case half(of: MemoryLimit.Origin)
        /// The system does not say what the process may use.
        case fallback
    }

    package let bytes: Int
    package let origin: Origin

    /// The bound that was configured, or half of the limit.
    package init(configured: Int?, limit: MemoryLimit?) {
        if let configured {
            (bytes, origin) = (configured, .configuration)
        } else if let limit {
            (bytes, origin) = (max(limit.bytes / 2, MemoryBound.least), .half(of: limit.origin))
        } else {
            (bytes, origin) = (MemoryBound.fallbackBytes, .fallback)
        }
    }

    /// What can be configured at least.
    package static let least = 1 << 20
    private static let fallbackBytes = 256 << 20

    /// Where it comes from, in words.
    package var source: String {
        switch origin {
        case .configuration: "memory.maxBytes"
        case .half(of: .controlGroup): "half of the limit of the control group"
        case .half(of: .machine): "half of the memory of the machine"
        case .fallback: "the system does not tell its memory"
        }
    }
}
