import BridgeCore

@testable import Storage

/// A store that was closed, and of which pages were damaged then.
///
/// It has 400 records, whose times are their sequences; every fifth is one of `trades`, unless `orders` has them all.
struct DamagedStore {
    let folder: StoreFolder
    let sequences: [UInt64]
    /// Those of `orders`.
    let mine: [UInt64]
    /// Those that stand in damaged pages.
    private(set) var hidden: Set<UInt64> = []

    init(leaves: [Int], isMixed: Bool, with byte: UInt8 = 0) throws {
        let rig = try StoreRig { $0.checkpointPages = 1 }
        rig.note(named(orders), named(trades, "trades"))
        let all = Array(1...400 as ClosedRange<UInt64>)
        let isMine = { (sequence: UInt64) in !isMixed || sequence % 5 != 0 }
        var counts: [StoredConnectionID: UInt64] = [:]
        for sequence in all {
            let connection = isMine(sequence) ? orders : trades
            let ordinal = counts[connection, default: 0]
            counts[connection] = ordinal + 1
            let text = String(repeating: "x", count: 500)
            let row = record(sequence, of: connection, ordinal: ordinal, at: Int64(sequence), text)
            _ = try rig.store.offer([.record(row)], .committed)
        }
        try rig.flush()
        rig.store.close()
        folder = rig.folder
        sequences = all
        mine = all.filter(isMine)
        try damage(leaves, of: "records", with: byte)
    }

    /// Leaves are pages of the table, from the oldest on; negative ones count from the newest.
    mutating func damage(_ leaves: [Int], of table: String, with byte: UInt8 = 0) throws {
        let pages = try DamagedStore.leaves(of: table, in: folder)
        for leaf in leaves {
            let index = leaf < 0 ? pages.count + leaf : leaf
            let before = pages[..<index].reduce(0) { $0 + $1.cells }
            if table == "records" { hidden.formUnion(sequences[before..<before + pages[index].cells]) }
            let noise = [UInt8](repeating: byte, count: 4096)
            try folder.damage(at: UInt64(pages[index].number - 1) * 4096, with: noise)
        }
    }

    /// The bytes of a leaf of `records` in the file.
    func bytes(ofLeaf leaf: Int) throws -> Range<Int64> {
        let page = Int64(try DamagedStore.leaves(of: "records", in: folder)[leaf].number)
        return (page - 1) * 4096..<page * 4096
    }

    /// In the order of what is in them.
    static func leaves(of table: String, in folder: StoreFolder) throws -> [(number: Int, cells: Int)] {
        let database = try Database(folder.database, .reading)
        let rows = try database.prepare(
            "SELECT pageno, ncell FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path"
        )
        var leaves: [(number: Int, cells: Int)] = []
        while try rows.next() { leaves.append((Int(rows.integer(0)), Int(rows.integer(1)))) }
        return leaves
    }
}
