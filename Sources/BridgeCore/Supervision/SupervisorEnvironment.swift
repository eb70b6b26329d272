/// What whoever started the process tells it by environment variables, in systemd's way: which sockets it was passed, where
/// it is to tell how it is, and how often.
package struct SupervisorEnvironment: Equatable, Sendable {
    /// The number of the first descriptor that is passed (SD_LISTEN_FDS_START).
    package static let firstDescriptor: Int32 = 3
    /// All that are looked at: programs that are started must not get them.
    package static let names = [
        "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "NOTIFY_SOCKET", "WATCHDOG_PID",
        "WATCHDOG_USEC",
    ]

    /// A socket was passed.
    package private(set) var hasSocket = false
    /// The path of the datagram socket that is told; it begins with NUL if it is an abstract name.
    package private(set) var notifyPath: String?
    /// The process counts as stuck if nothing is heard of it for so long.
    package private(set) var watchdog: Duration?
    /// How often it says that it lives, so that one word may get lost.
    package var watchdogInterval: Duration? { watchdog.map { $0 / 2 } }

    /// There is nobody.
    package init() {}

    /// Reads what is meant for the process with this number.
    ///
    /// - Throws: if it was passed more than it can use.
    package init(_ environment: [String: String], process: Int32) throws(StartError) {
        notifyPath = SupervisorEnvironment.path(environment["NOTIFY_SOCKET"] ?? "")
        // Without a number every process is meant.
        if environment["WATCHDOG_PID"].map({ Int32(digits: $0) == process }) ?? true,
            let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64(digits: $0) }), microseconds > 0
        {
            watchdog = .microseconds(microseconds)
        }
        let number = environment["LISTEN_PID"] ?? ""
        let passed = environment["LISTEN_FDS"] ?? ""
        guard !number.isEmpty, !passed.isEmpty else { return }
        guard let meant = Int32(digits: number), let count = Int(digits: passed) else {
            let text = "LISTEN_PID and LISTEN_FDS are to be numbers, and are not"
            throw StartError([.init("LISTEN_FDS", text, .cannotBind)])
        }
        guard meant == process, count > 0 else { return }
        guard count == 1 else {
            let names = environment["LISTEN_FDNAMES"].map { " (\(Problem.quotable($0)))" } ?? ""
            let text = "\(count) sockets were passed\(names), and the bridge listens on one alone"
            throw StartError([.init("LISTEN_FDS", text, .cannotBind)])
        }
        hasSocket = true
    }

    /// Nil for what is no unix socket, such as the address of a virtual machine's host.
    private static func path(_ text: String) -> String? {
        guard text.utf8.count > 1, text.utf8.count <= 107 else { return nil }
        return switch text.first {
        case "/": text
        case "@": "\0" + text.dropFirst()
        default: nil
        }
    }
}
