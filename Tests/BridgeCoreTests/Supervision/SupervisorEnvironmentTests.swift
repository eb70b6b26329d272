import BridgeCore
import Testing

/// The variables of systemd, as the process with the number 7 reads them.
@Suite struct `The environment of a supervisor` {
    private func read(_ variables: [String: String]) throws(StartError) -> SupervisorEnvironment {
        try SupervisorEnvironment(variables, process: 7)
    }

    @Test func `says nothing where there is none`() throws {
        #expect(try read([:]) == SupervisorEnvironment())
        #expect(SupervisorEnvironment().hasSocket == false)
    }

    @Test(arguments: [
        ("7", "1", true), ("7", "0", false), ("8", "1", false), ("", "1", false), ("7", "", false),
        ("8", "2", false),
    ])
    func `passes a socket to the process that it names`(process: String, count: String, hasSocket: Bool)
        throws
    {
        let variables = ["LISTEN_PID": process, "LISTEN_FDS": count]
        #expect(try read(variables).hasSocket == hasSocket)
    }

    @Test(arguments: [
        ("x", "1"), ("7", "-1"), ("+7", "1"), ("99999999999", "1"), ("7", "abc"), ("7", "1x"), ("7", " 1"),
    ])
    func `that is no number is refused`(process: String, count: String) {
        let error = #expect(throws: StartError.self) {
            try read(["LISTEN_PID": process, "LISTEN_FDS": count])
        }
        #expect(error?.exitCode == .cannotBind)
    }

    @Test func `that names no process passes nothing`() throws {
        #expect(try !read(["LISTEN_FDS": "1"]).hasSocket)
    }

    @Test(arguments: [
        ([:], "2 sockets were passed, and the bridge listens on one alone"),
        (["LISTEN_FDNAMES": "a:b"], "2 sockets were passed (a:b), and the bridge listens on one alone"),
    ])
    func `that passes more than one is refused`(names: [String: String], text: String) {
        let variables = names.merging(["LISTEN_PID": "7", "LISTEN_FDS": "2"]) { $1 }
        let error = #expect(throws: StartError.self) { try read(variables) }
        #expect(error?.exitCode == .cannotBind)
        #expect(error?.lines == ["wsbridge: LISTEN_FDS: \(text)"])
    }

    @Test(arguments: [
        ("/run/systemd/notify", "/run/systemd/notify"), ("@notify", "\0notify"), ("", nil), ("@", nil),
        ("notify", nil), ("vsock:2:1", nil), ("/" + String(repeating: "x", count: 107), nil),
    ])
    func `names a unix socket to be told`(text: String, path: String?) throws {
        #expect(try read(["NOTIFY_SOCKET": text]).notifyPath == path)
    }

    @Test(arguments: [
        (["WATCHDOG_USEC": "30000000"], Duration.seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"], .seconds(30)),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"], nil),
        (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "x"], nil), (["WATCHDOG_USEC": "0"], nil),
        (["WATCHDOG_USEC": "30s"], nil), (["WATCHDOG_USEC": "99999999999999999999"], nil),
        (["WATCHDOG_PID": "7"], nil),
    ])
    func `has a watchdog for the process that it names, or for any`(
        variables: [String: String],
        watchdog: Duration?
    ) throws {
        #expect(try read(variables).watchdog == watchdog)
    }

    @Test func `tells a watchdog twice as often as it has to`() throws {
        #expect(try read(["WATCHDOG_USEC": "30000000"]).watchdogInterval == .seconds(15))
        #expect(try read([:]).watchdogInterval == nil)
    }

    @Test func `is forgotten as a whole`() {
        let all = [
            "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
        ]
        #expect(Set(all).isSubset(of: SupervisorEnvironment.names))
    }
}

@Suite struct `What a supervisor is told` {
    @Test(arguments: [
        (
            ServiceNotice.ready(ServiceStanding(ready: 2, wanted: 3)),
            "READY=1\nSTATUS=2 of 3 connections ready"
        ),
        (.standing(ServiceStanding(ready: 0, wanted: 1)), "STATUS=0 of 1 connections ready"),
        (.standing(ServiceStanding(ready: 0, wanted: 0)), "STATUS=no connection is to be up all the time"),
        (.reloading(Instant(nanoseconds: 12_345_678)), "RELOADING=1\nMONOTONIC_USEC=12345"),
        (.stopping, "STOPPING=1\nSTATUS=stopping"), (.alive, "WATCHDOG=1"),
    ])
    func `is in the words of sd_notify`(notice: ServiceNotice, text: String) {
        #expect(notice.text == text)
    }
}
