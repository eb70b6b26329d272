import BridgeCore

/// Names for tests that need one and do not care which.
extension OutboxID {
    static let one = OutboxID(epoch: Epoch(bits: 1), number: 1)
    static let another = OutboxID(epoch: Epoch(bits: 1), number: 2)
}
