import BridgeCore
import Demo
import Testing

@Suite struct `The guide of the demo` {
    private func commands(_ address: String, needsToken: Bool = false) throws -> [String] {
        let text = DemoGuide.text(listeningOn: try ListenAddress(text: address), needsToken: needsToken)
        return text.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
    }

    @Test(arguments: [
        ("127.0.0.1:43121", "http://127.0.0.1:43121/status"),
        ("localhost:8080", "http://localhost:8080/status"),
        (":8080", "http://127.0.0.1:8080/status"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080/status"),
        ("[::1]:8080", "'http://[::1]:8080/status'"),
        ("[::]:8080", "'http://[::1]:8080/status'"),
        ("unix:/run/wsbridge.sock", "--unix-socket /run/wsbridge.sock http://localhost/status"),
        ("unix:/a b/it's;$x", #"--unix-socket '/a b/it'\''s;$x' http://localhost/status"#),
    ])
    func `names the address by which curl gets there`(address: String, target: String) throws {
        #expect(try commands(address).last == "curl \(target)")
    }

    @Test func `shows how to follow, to send and to ask`() throws {
        #expect(
            try commands("127.0.0.1:8080") == [
                "curl -N http://127.0.0.1:8080/events",
                "curl -d 'Hello' http://127.0.0.1:8080/messages",
                "curl http://127.0.0.1:8080/status",
            ]
        )
    }

    @Test func `presents the token of the environment where one is needed`() throws {
        let access = #"-H "Authorization: Bearer $WSBRIDGE_TOKEN""#
        #expect(
            try commands("127.0.0.1:8080", needsToken: true) == [
                "curl -N \(access) http://127.0.0.1:8080/events",
                "curl -d 'Hello' \(access) http://127.0.0.1:8080/messages",
                "curl \(access) http://127.0.0.1:8080/status",
            ]
        )
    }

    @Test(arguments: [
        ("127.0.0.1:43121", "Open http://127.0.0.1:43121/ in a browser"),
        (":8080", "Open http://127.0.0.1:8080/ in a browser"),
        ("[::]:8080", "Open http://[::1]:8080/ in a browser"),
        ("[fd00::1]:80", "Open http://[fd00::1]:80/ in a browser"),
        ("unix:/run/wsbridge.sock", "Follow what arrives"),
    ])
    func `names the page where a browser gets there`(address: String, words: String) throws {
        let text = DemoGuide.text(listeningOn: try ListenAddress(text: address))
        #expect(text.contains(words))
        #expect(text.contains("browser") == words.contains("browser"))
    }

    @Test func `is at most twelve lines long`() throws {
        let text = DemoGuide.text(listeningOn: try ListenAddress(text: "127.0.0.1:8080"))
        #expect(text.hasSuffix("\n"))
        #expect(text.count { $0 == "\n" } <= 12)
    }
}
