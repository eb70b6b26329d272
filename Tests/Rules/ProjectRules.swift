/// The rules of this project that neither the compiler nor the formatter checks.
enum ProjectRules {
    /// A longer file holds more than one idea.
    static let longestFile = 300

    /// Pure targets decide; what they would need to act is out of their reach.
    static let pureImports = [
        ImportRule(folder: "Sources/WebSocketProtocol/", allowed: ["FoundationEssentials"]),
        ImportRule(folder: "Sources/BridgeCore/", allowed: ["FoundationEssentials", "WebSocketProtocol"]),
    ]

    /// Each C library has one folder that wraps it; `wsbridge` wires and touches none.
    ///
    /// CUV also has the constants of sockets, which glibc's module shows or not, as it happens; `libuvCalls` sees
    /// that it stays at that.
    static let doerImports =
        [
            "Loop": ["CUV"],
            "HTTPServer": ["CMicroHTTPD", "CUV"],
            "Streams": ["CUV"],
            "Transfers": ["CCURL"],
            "TLS": ["COpenSSL"],
            "Upstream": ["CZlib"],
            "Network": ["CNetlink", "CUV"],
            "Log": [],
            "Metrics": [],
            "Client": ["CUV"],
            "Supervision": ["CUV"],
            "YAML": ["CYAML"],
            "PublicFiles": ["CPublicFiles"],
        ].map { folder, libraries in
            ImportRule(folder: "Sources/BridgeIO/\(folder)/", allowed: everyDoer.union(libraries))
        } + [
            ImportRule(
                folder: "Sources/Storage/",
                allowed: ["BridgeCore", "WebSocketProtocol", "CSQLite", "Glibc", "Synchronization"]
            ),
            ImportRule(folder: "Sources/Demo/", allowed: everyDoer.union(["BridgeIO"])),
            ImportRule(
                folder: "Sources/wsbridge/",
                allowed: everyDoer.union(["BridgeIO", "Demo", "Storage"])
            ),
        ]

    private static let everyDoer: Set = [
        "BridgeCore", "WebSocketProtocol", "FoundationEssentials", "Glibc", "Synchronization",
    ]

    /// libuv is called by the loop alone, whoever imports it.
    static let libuvCalls = [
        "HTTPServer/", "Streams/", "Upstream/", "Network/", "Log/", "Metrics/", "YAML/", "Client/", "TLS/",
        "Supervision/",
    ]
    .map {
        folder in
        WordRule(
            folder: "Sources/BridgeIO/\(folder)",
            words: [.init("libuv", pattern: #"\b(uv|UV)_"#)],
            reasonSuffices: false
        )
    }

    /// The same events and the same `now` must give the same actions: clocks, randomness and threads are arguments.
    static let purity = ["Sources/WebSocketProtocol/", "Sources/BridgeCore/"].map { folder in
        WordRule(
            folder: folder,
            words: [
                .init("a clock", pattern: #"\b(ContinuousClock|SuspendingClock|Date\(\)|Date\.now)"#),
                .init("the system's randomness", pattern: #"\bSystemRandomNumberGenerator\b|\bUUID\(\)"#),
                .init(
                    "randomness without a generator",
                    pattern: #"\.(random|randomElement|shuffled|shuffle)\((?!.*using:)"#
                ),
                .init("concurrency", pattern: #"\b(await|async|actor|Task)\b"#),
                .init("output", pattern: #"\b(print|debugPrint|dump)\("#),
            ],
            reasonSuffices: false
        )
    }

    /// The time of day can be set: what waits or measures reads the monotonic clock.
    static let timeOfDay = WordRule(
        folder: "Sources/",
        words: [
            .init(
                "the time of day",
                pattern: #"\bCLOCK_REALTIME\b|\bgettimeofday\b|\bDate\(\)|\bDate\.now\b"#
            )
        ],
        reasonSuffices: true
    )

    /// What switches a check of the compiler off, or ends the process, says why.
    static let escapes = WordRule(
        folder: "Sources/",
        words: [
            .init("@unchecked Sendable", pattern: #"@unchecked\b"#),
            .init("nonisolated(unsafe)", pattern: #"\bnonisolated\(unsafe\)"#),
            .init("try!", pattern: #"\btry!"#),
            .init("as!", pattern: #"\bas!"#),
            .init("fatalError", pattern: #"\bfatalError\("#),
            .init("unsafeBitCast", pattern: #"\bunsafeBitCast\("#),
        ],
        reasonSuffices: true
    )

    /// A test that does not run, or may fail, or waits for a while, proves nothing.
    static let honestTests = WordRule(
        folder: "Tests/",
        words: [
            .init("a disabled test", pattern: #"\.(disabled|enabled)\("#),
            .init("a test that may fail", pattern: #"\bwithKnownIssue\b"#),
            .init("a cancelled test", pattern: #"\bTest\.cancel\b"#),
            .init("a sleep", pattern: #"\bTask\.sleep\b|\b(u|nano)?sleep\("#),
        ],
        reasonSuffices: false
    )

    /// Whether the file is longer than any may be.
    static func lengthFindings(in file: SourceText) -> [Finding] {
        guard file.lines.count > longestFile else { return [] }
        let message = "\(file.lines.count) lines, at most \(longestFile) are allowed"
        return [Finding(path: file.path, line: longestFile + 1, message: message)]
    }
}
