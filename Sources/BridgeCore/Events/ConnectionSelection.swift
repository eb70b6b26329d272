/// The connections whose records a reader gets: one or several.
package struct ConnectionSelection: Hashable, Sendable {
    /// In ascending order, each once, so that equal selections are equal values.
    package let indices: [ConnectionIndex]

    package init(_ connection: ConnectionIndex) {
        indices = [connection]
    }

    package init(_ connections: some Sequence<ConnectionIndex>) {
        indices = Set(connections).sorted()
    }

    package func contains(_ connection: ConnectionIndex) -> Bool {
        if indices.count == 1 { return indices[0] == connection }
        var low = 0
        var high = indices.count
        while low < high {
            let middle = (low + high) / 2
            if indices[middle] < connection { low = middle + 1 } else { high = middle }
        }
        return low < indices.count && indices[low] == connection
    }
}
