import BridgeCore
import Testing

/// The value that `body` reads, nil if it throws.
private func read<Value>(_ body: () throws(MalformedValue) -> Value) -> Value? {
    do throws(MalformedValue) {
        return try body()
    } catch {
        return nil
    }
}

@Suite struct `Written durations` {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250), "250ms"), ("20s", .seconds(20), "20s"),
        ("1m30s", .seconds(90), "1m30s"),
        ("2h", .seconds(7200), "2h"), ("90m", .seconds(5400), "1h30m"),
        ("1h2m3s4ms", .milliseconds(3_723_004), "1h2m3s4ms"),
        ("1500ms", .milliseconds(1500), "1s500ms"), ("0", .zero, "0s"), ("0s", .zero, "0s"),
        ("0h0ms", .zero, "0s"),
        ("5", .seconds(5), "5s"), ("005", .seconds(5), "5s"), ("1.5", .milliseconds(1500), "1s500ms"),
        ("0.000000001", .nanoseconds(1), "0.000000001"), ("61.0005", .microseconds(61_000_500), "61.0005"),
        ("3200000000", .seconds(3_200_000_000), "888888h53m20s"), ("0.5", .milliseconds(500), "500ms"),
    ])
    func `are read, and written in their shortest form`(text: String, duration: Duration, shortest: String) {
        #expect(read { () throws(MalformedValue) in try Duration(text: text) } == duration)
        #expect(duration.text == shortest)
        #expect(read { () throws(MalformedValue) in try Duration(text: shortest) } == duration)
    }

    @Test(arguments: [
        "", " ", "s", "ms", "-1s", "+1s", "1 s", " 1s", "1s ", "1S", "1d", "1us", "1.5s", "1.", ".5",
        "1.0000000001", "1e3",
        "1s1m", "1s1s", "1m30", "1h-1m", "1,5", "0x1", "\u{661}s", "1s\u{0}", "inf", "3200000001", "888889h",
        "9223372036854775807",
        "9223372036854775808", "9223372036854775807ms", "9223372036854775807h", "99999999999999999999999s",
        "2562047788015h12m55s1000ms",
    ])
    func `are refused unless they are exactly that`(text: String) {
        #expect(read { () throws(MalformedValue) in try Duration(text: text) } == nil)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `never trap, and come back from their own text`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = ["h", "m", "s", "ms", "1", "90", "999999999999999999", ".", "0", "-", "é"]
        for _ in 0..<500 {
            let text = input.text(of: pieces)
            guard let duration = read({ () throws(MalformedValue) in try Duration(text: text) }) else {
                continue
            }
            #expect(read { () throws(MalformedValue) in try Duration(text: duration.text) } == duration)
        }
    }
}

@Suite struct `Written sizes` {
    @Test(arguments: [
        ("0", 0, "0"), ("1", 1, "1"), ("1000", 1000, "1000"), ("1024", 1 << 10, "1KiB"),
        ("64KiB", 64 << 10, "64KiB"),
        ("16MiB", 16 << 20, "16MiB"), ("2048KiB", 2 << 20, "2MiB"), ("1GiB", 1 << 30, "1GiB"),
        ("0MiB", 0, "0"),
        ("9223372036854775807", Int.max, "9223372036854775807"),
        ("8589934591GiB", 8_589_934_591 << 30, "8589934591GiB"),
    ])
    func `are read, and written in their shortest form`(text: String, bytes: Int, shortest: String) {
        #expect(read { () throws(MalformedValue) in try ByteSize(text: text) }?.bytes == bytes)
        #expect(ByteSize(bytes: bytes).text == shortest)
        #expect(read { () throws(MalformedValue) in try ByteSize(text: shortest) }?.bytes == bytes)
    }

    @Test(arguments: [
        "", "KiB", "-1", "+1", "1.5MiB", "1 KiB", " 1", "1kib", "1KB", "1K", "1B", "1KiBs", "0x10", "1e3",
        "\u{661}",
        "9223372036854775808", "8589934592GiB", "9007199254740992KiB", "99999999999999999999999KiB",
    ])
    func `are refused unless they are exactly that`(text: String) {
        #expect(read { () throws(MalformedValue) in try ByteSize(text: text) } == nil)
    }
}

@Suite struct `Listen addresses` {
    @Test(arguments: [
        ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080), true),
        ("127.9.9.9:1", .tcp(host: "127.9.9.9", port: 1), true),
        ("localhost:0", .tcp(host: "localhost", port: 0), true),
        ("[::1]:80", .tcp(host: "::1", port: 80), true),
        ("unix:/run/wsbridge.sock", .unix(path: "/run/wsbridge.sock"), true),
        ("unix:a:b", .unix(path: "a:b"), true),
        (":8080", .tcp(host: nil, port: 8080), false),
        ("0.0.0.0:8080", .tcp(host: "0.0.0.0", port: 8080), false),
        ("[::]:8080", .tcp(host: "::", port: 8080), false),
        ("[2001:db8::1]:65535", .tcp(host: "2001:db8::1", port: 65535), false),
        ("box.example.org:80", .tcp(host: "box.example.org", port: 80), false),
        ("192.168.0.1:80", .tcp(host: "192.168.0.1", port: 80), false),
        ("localhost.example.org:80", .tcp(host: "localhost.example.org", port: 80), false),
    ])
    func `are read and written alike, and known to be local or not`(
        text: String,
        address: ListenAddress,
        isLocal: Bool
    ) {
        #expect(read { () throws(MalformedValue) in try ListenAddress(text: text) } == address)
        #expect(address.text == text)
        #expect(address.isLocal == isLocal)
    }

    @Test(arguments: [
        "", ":", "8080", "localhost", "localhost:", ":65536", ":-1", ":+1", ": 80", "a:b", "::1:80", "[::1]",
        "[::1]80", "[::1:80",
        "[]:80", "[1.2.3.4]:80", "a b:80", "http://a:80", "*:80", "a:80:80", "a::80", "[fe80::1%25eth0]:80",
        "[fe80::1%eth0]:80",
        "unix:", "unix", "unix:\u{0}", "tcp:/a", "[::1]:80:80", "[::1]::80",
    ])
    func `are refused when malformed`(text: String) {
        #expect(read { () throws(MalformedValue) in try ListenAddress(text: text) } == nil)
    }

    @Test(arguments: [(107, true), (108, false)])
    func `have paths that fit into a socket address`(count: Int, isTaken: Bool) {
        let text = "unix:" + String(repeating: "a", count: count)
        #expect((read { () throws(MalformedValue) in try ListenAddress(text: text) } != nil) == isTaken)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `never trap, and come back from their own text`(seed: UInt64) {
        var input = RandomInput(seed: seed)
        let pieces = ["unix:", ":", "[", "]", "::1", "127.0.0.1", "80", "99999", "a", ".", "%", "é"]
        for _ in 0..<500 {
            let text = input.text(of: pieces)
            guard let address = read({ () throws(MalformedValue) in try ListenAddress(text: text) }) else {
                continue
            }
            #expect(read { () throws(MalformedValue) in try ListenAddress(text: address.text) } == address)
        }
    }
}
