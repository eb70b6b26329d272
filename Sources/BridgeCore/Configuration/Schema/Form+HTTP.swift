import WebSocketProtocol

extension Form<ListenAddress> {
    static let listenAddress = scalar(
        "an address such as 127.0.0.1:8080, [::1]:8080, :8080 or unix:PATH",
        resolve: { text, reader in
            guard text.hasPrefix("unix:"), !text.hasPrefix("unix:@") else { return text }
            return "unix:" + reader.resolved(String(text.dropFirst(5)))
        },
        parse: { text throws(MalformedValue) in try ListenAddress(text: text) },
        write: { .quoted($0.text) }
    )
}

extension Form<SocketMode> {
    static let socketMode = scalar(
        SocketMode.expectation,
        parse: { text throws(MalformedValue) in try SocketMode(text: text) },
        write: { .plain($0.text) }
    )
}

extension Form<PublicDirectory> {
    static let publicDirectory = scalar(
        "the path of a folder",
        parse: { text throws(MalformedValue) in try PublicDirectory(text: text) },
        write: { .quoted($0.name) }
    )
}

extension Form<String> {
    /// A path, which counts from the configuration file's folder.
    static let folder = scalar(
        "the path of a folder",
        resolve: { text, reader in text.isEmpty ? text : reader.resolved(text) },
        parse: { text throws(MalformedValue) in
            guard !text.isEmpty else { throw MalformedValue("the path of a folder") }
            return text
        },
        write: { .quoted($0) }
    )

    static let origin = one(of: "an origin such as https://example.org, without a path, or *") {
        HTTPSettings.isOrigin($0)
    }

    static let host = one(of: "a host name without scheme and port, or *") { HTTPSettings.isHost($0) }

    /// What a token is called in logs and answers.
    static let tokenName = one(of: "a name of 1 to 64 letters, digits, `.`, `_` and `-`") {
        ConnectionName.isValid($0)
    }

    private static func one(
        of expectation: String,
        where isRight: @escaping @Sendable (String) -> Bool
    ) -> Form {
        scalar(
            expectation,
            parse: { text throws(MalformedValue) in
                guard isRight(text) else { throw MalformedValue(expectation) }
                return text
            },
            write: { .quoted($0) }
        )
    }
}

extension Form<NamePattern> {
    static let namePattern = scalar(
        "the name of a connection, or a pattern such as `*` or `feed-*`",
        parse: { text throws(MalformedValue) in
            let plain = String(text.filter { $0 != "*" && $0 != "?" })
            guard (1...64).contains(text.utf8.count), plain.isEmpty || ConnectionName.isValid("x" + plain)
            else {
                throw MalformedValue("the name of a connection, or a pattern such as `*` or `feed-*`")
            }
            return NamePattern(text)
        },
        write: { .quoted($0.text) }
    )
}

extension Form<Secret> {
    static let token = scalar(
        "a token",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            guard !text.isEmpty else { throw MalformedValue("a token, but it is empty") }
            return try Secret(bearerToken: text)
        },
        write: { _ in .quoted(secretMask) }
    )
}

/// Names that can stand in a path: `.` and `..` cannot, as clients take them out.
enum ConnectionName {
    static let expectation =
        "a name has 1 to 64 letters, digits, `.`, `_` and `-`, and is neither `.` nor `..`"

    static func isValid(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
