import BridgeCore
import BridgeIO
import Glibc
import Testing

@Suite struct `A local file` {
    /// The content of a file, or why there is none.
    private func content(of path: String, limit: Int = 10) -> Result<[UInt8], ConfigurationFiles.Unreadable> {
        Result { () throws(ConfigurationFiles.Unreadable) in
            try ConfigurationFiles.local(patience: .milliseconds(50)).read(path, limit)
        }
    }

    /// A pipe, of which the writing end may be held open.
    private func withPipe(holding bytes: [UInt8], isHeld: Bool, _ body: (String) -> Void) {
        var ends: [Int32] = [0, 0]
        unsafe #expect(pipe(&ends) == 0)
        let count = unsafe write(ends[1], bytes, bytes.count)
        #expect(count == bytes.count)
        if !isHeld { close(ends[1]) }
        body("/dev/fd/\(ends[0])")
        close(ends[0])
        if isHeld { close(ends[1]) }
    }

    @Test func `may be a pipe`() {
        withPipe(holding: Array("a: 1".utf8), isHeld: false) { path in
            #expect(content(of: path) == .success(Array("a: 1".utf8)))
        }
    }

    @Test func `must end`() {
        withPipe(holding: Array("a: 1".utf8), isHeld: true) { path in
            #expect(content(of: path) == .failure(.init("it is a pipe whose end did not come within 50ms")))
        }
    }

    @Test func `is not empty if it is a pipe`() {
        withPipe(holding: [], isHeld: false) { path in
            #expect(content(of: path) == .failure(.init("it is a pipe that nothing came through")))
        }
        #expect(content(of: "/dev/null") == .success([]))
    }

    @Test func `has a bound`() {
        withPipe(holding: Array("0123456789".utf8), isHeld: false) { path in
            #expect(content(of: path) == .success(Array("0123456789".utf8)))
        }
        withPipe(holding: Array("0123456789a".utf8), isHeld: true) { path in
            #expect(content(of: path) == .failure(.init("it has more than 10")))
        }
        #expect(content(of: "/dev/zero") == .failure(.init("it has more than 10")))
    }
}
