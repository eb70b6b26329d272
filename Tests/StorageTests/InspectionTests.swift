import BridgeCore
import Glibc
import Testing

@testable import Storage

/// What `wsbridge check` tells of a store.
struct InspectionTests {
    @Test func `a store that is in use is told of without being disturbed`() throws {
        let rig = try StoreRig()
        rig.note(named(orders), named(trades, "trades"))
        #expect(try rig.put(messages(1...3), .record(record(1)), .record(record(2, of: trades))))
        let inspection = try StoreInspection(of: rig.folder.path)
        let counts = "version 1, connections: 2, messages to be sent: 3, records: 2"
        #expect(inspection.text == "\(rig.folder.path)/wsbridge.db: \(counts)")
        #expect(try rig.put(messages(4...4)))
    }

    @Test(arguments: ["", "/", "/a/b", "/a/"])
    func `where there is nothing yet nothing is made`(end: String) throws {
        let folder = try StoreFolder()
        let path = folder.path + "/new" + end
        #expect(try StoreInspection(of: path).text.hasSuffix("/wsbridge.db: nothing yet"))
        #expect(unsafe access(folder.path + "/new", F_OK) != 0)
    }
}
