// swift-tools-version: 6.2
import PackageDescription

/// What every target of this package is built with; warnings are errors everywhere, tests included.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // Specialises generic code across modules: an order of magnitude on the codec's hot paths.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// For the targets that live on the event loop, which runs on the main thread: the compiler proves it.
let onTheLoop: [SwiftSetting] = strict + [.defaultIsolation(MainActor.self)]

/// A C library of the system, described by a module map and `shim.h`.
func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

let package = Package(
    name: "wsbridge",
    products: [.executable(name: "wsbridge", targets: ["wsbridge"])],
    targets: [
        system("CMicroHTTPD", pkgConfig: "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CNetlink", pkgConfig: "libmnl", apt: "libmnl-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CUV", pkgConfig: "libuv", apt: "libuv1-dev"),
        system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        system("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),

        // libcurl and SQLite, which are not linked but loaded when they are needed.
        .target(name: "CCURL"),
        .target(name: "CSQLite"),
        // The files of public/ and config/presets/, as constants of the program.
        .target(name: "CPublicFiles"),

        // Pure: bytes and values in, bytes and values out. No C, no clock, no thread (Tests/Rules proves it).
        .target(name: "WebSocketProtocol", swiftSettings: strict),
        .target(name: "BridgeCore", dependencies: ["WebSocketProtocol"], swiftSettings: strict),

        // The doers. One folder a technology; the only unsafe code.
        .target(
            name: "BridgeIO",
            dependencies: [
                "BridgeCore", "WebSocketProtocol", "CCURL", "CMicroHTTPD", "CNetlink", "COpenSSL",
                "CPublicFiles", "CUV", "CYAML", "CZlib",
            ],
            swiftSettings: onTheLoop
        ),
        // The durable store. It has a thread of its own, so nothing of it is bound to the loop.
        .target(
            name: "Storage",
            dependencies: ["BridgeCore", "CSQLite", "WebSocketProtocol"],
            swiftSettings: strict
        ),
        // The upstream of `wsbridge demo`, and what that command tells.
        .target(
            name: "Demo",
            dependencies: ["BridgeIO", "BridgeCore", "WebSocketProtocol"],
            swiftSettings: onTheLoop
        ),
        .executableTarget(
            name: "wsbridge",
            dependencies: ["Demo", "BridgeIO", "BridgeCore", "Storage", "WebSocketProtocol"],
            swiftSettings: onTheLoop
        ),

        // What several test targets share about frames: raw bytes, a seeded generator, decoding in pieces.
        .target(
            name: "WebSocketTestSupport",
            dependencies: ["WebSocketProtocol"],
            path: "Tests/WebSocketTestSupport",
            swiftSettings: strict
        ),
        // An event source as browsers are, and streams to feed it with.
        .target(
            name: "StreamTestSupport",
            dependencies: ["BridgeCore", "WebSocketProtocol"],
            path: "Tests/StreamTestSupport",
            swiftSettings: strict
        ),
        // A file system for SQLite from which power can be cut.
        .target(name: "PowerCut", path: "Tests/PowerCut", linkerSettings: [.linkedLibrary("sqlite3")]),
        // The echo client of `make conformance`; no product, so that no user gets it.
        .executableTarget(
            name: "autobahn-client",
            dependencies: ["BridgeIO", "BridgeCore", "WebSocketProtocol"],
            path: "Tests/Interop/AutobahnClient",
            swiftSettings: onTheLoop
        ),
        // What `make bench` measures of the WebSocket client alone.
        .executableTarget(
            name: "pointers",
            dependencies: ["BridgeCore", "WebSocketProtocol"],
            path: "Benchmarks/Pointers",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "codec-client",
            dependencies: ["BridgeIO", "BridgeCore", "WebSocketProtocol"],
            path: "Benchmarks/CodecClient",
            swiftSettings: onTheLoop
        ),
        .testTarget(
            name: "WebSocketProtocolTests",
            dependencies: ["WebSocketProtocol", "WebSocketTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BridgeCoreTests",
            dependencies: ["BridgeCore", "StreamTestSupport", "WebSocketProtocol", "WebSocketTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "BridgeIOTests",
            dependencies: [
                "BridgeIO", "BridgeCore", "COpenSSL", "WebSocketProtocol", "WebSocketTestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "StorageTests",
            dependencies: ["Storage", "BridgeCore", "PowerCut", "WebSocketProtocol", "WebSocketTestSupport"],
            exclude: ["Files"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DemoTests",
            dependencies: ["Demo", "BridgeIO", "BridgeCore", "WebSocketProtocol"],
            swiftSettings: strict
        ),
        // What the compiler does not check: imports, file lengths, commands in pages.
        .testTarget(name: "RulesTests", path: "Tests/Rules", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzzer needs its code instrumented, so it exists only where it is asked for (`make fuzz`).
if Context.environment["WSBRIDGE_FUZZ"] == "1" {
    let instrumented = ["-sanitize=fuzzer,address"]
    for target in package.targets where ["BridgeCore", "WebSocketProtocol"].contains(target.name) {
        target.swiftSettings = strict + [.unsafeFlags(instrumented)]
    }
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
        .executableTarget(
            name: "wsbridge-fuzz",
            dependencies: [
                "BridgeCore", "BridgeIO", "CLibFuzzer", "StreamTestSupport", "WebSocketProtocol",
                "WebSocketTestSupport",
            ],
            path: "Tests/Fuzz/Target",
            swiftSettings: strict + [.unsafeFlags(instrumented + ["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(instrumented + ["-use-ld=lld"])]
        ),
    ]
}
