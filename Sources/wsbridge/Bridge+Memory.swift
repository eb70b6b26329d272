internal import BridgeCore
internal import BridgeIO

extension Bridge {
    /// Takes on the bound of memory that the configuration has, or that the system leads to, and tells of another one.
    func boundMemory() {
        let bound = MemoryBound(configured: configuration.memory.maxBytes, limit: .ofSystem)
        hub.onMemoryShort = { [log] shortage in
            let warning: StaticString =
                switch shortage {
                case .histories:
                    "histories keep less than `history` lets them, as the memory for all is used up"
                case .readers: "readers that stand still are disconnected, as the memory for all is used up"
                }
            log.warning(warning, ["bytes": .integer(bound.bytes)])
        }
        guard bound.bytes != hub.memoryBound else { return }
        hub.memoryBound = bound.bytes
        boundBodies()
        log.info("memory is bounded", ["bytes": .integer(bound.bytes), "by": .text(bound.source)])
    }

    /// Bounds what clients are sending, once there are any.
    func boundBodies() {
        server?.bodies.limit = MemoryBudget(bound: hub.memoryBound).bodyLimit
    }
}
