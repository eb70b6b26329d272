import BridgeCore
import Testing

@Suite struct `The mode of a socket` {
    @Test(arguments: [
        ("0600", 0o600, "0600"), ("660", 0o660, "0660"), ("0777", 0o777, "0777"), ("000", 0, "0000"),
    ])
    func `is written in octal`(text: String, bits: UInt16, shown: String) throws {
        let mode = try SocketMode(text: text)
        #expect((mode.bits, mode.text) == (bits, shown))
    }

    @Test(arguments: ["", "6", "66", "0o660", "0680", "1777", "00660", "+660", "-060", "u=rw"])
    func `is nothing else`(text: String) {
        #expect(throws: MalformedValue.self) { try SocketMode(text: text) }
    }

    @Test(arguments: ["unix:@a", "unix:@"])
    func `is what abstract sockets have not, so they are refused`(text: String) {
        let error = #expect(throws: MalformedValue.self) { try ListenAddress(text: text) }
        #expect(error?.expectation.contains("an abstract socket has no permissions") == true)
    }

    @Test func `does not matter to an abstract socket that was passed`() {
        #expect(ListenAddress.unix(path: "\0a").text == "unix:@a")
        #expect(ListenAddress.unix(path: "\0a").isLocal)
    }
}
