package import WebSocketProtocol

extension Form<WebSocketURL> {
    private static let single = scalar(
        "a URL such as wss://example.org/feed",
        isSecret: true,
        isPartlyShown: true,
        resolve: { text, reader in WebSocketURL.resolvingSocketPath(in: text) { reader.resolved($0) } },
        parse: { text throws(MalformedValue) in try WebSocketURL(setting: text) },
        write: { .quoted($0.masked) }
    )

    static let upstreamURL = Form(
        read: { node, reader in
            guard let url = single.read(node, &reader) else { return nil }
            if case .unix = url.endpoint, !reader.mayName("a socket of the bridge's machine", at: node) {
                return nil
            }
            return url
        },
        write: single.write
    )
}

extension WebSocketURL {
    /// The URL with a mask for what is secret in it, which its redacted form leaves out.
    package var masked: String {
        var text = redacted
        if credentials != nil, let slashes = text.firstRange(of: "://") {
            text.insert(contentsOf: secretMask + "@", at: slashes.upperBound)
        }
        return target.contains("?") ? text + "?" + secretMask : text
    }
}

extension Form<ProxySetting> {
    private static let named = scalar(
        "\(ProxyURL.expectation), or none",
        isSecret: true,
        isPartlyShown: true,
        parse: { text throws(MalformedValue) in
            text == "none" ? .none : .always(try ProxyURL(text))
        },
        write: { setting in
            switch setting {
            case .environment: .null
            case .none: .plain("none")
            case .always(let proxy): .quoted(proxy.masked)
            }
        }
    )

    /// A proxy, `none`, or null for those of the environment.
    static let proxy = Form(
        read: { node, reader in reader.isNull(node) ? .environment : named.read(node, &reader) },
        write: named.write
    )
}

extension Form<[HTTPField]> {
    static let headers = Form<[(key: String, value: String)]>
        .dictionary(.headerValue, fold: { $0.lowercased() }) { name in
            do throws(HandshakeRequestError) {
                try ClientHandshake.Terms.check(HTTPField(name, ""))
                return nil
            } catch {
                return error.description
            }
        }
        .mapped(
            { pairs in pairs.map { HTTPField($0.key, $0.value) } },
            back: { fields in fields.map { (key: $0.name, value: $0.value) } }
        )
}

extension Form<String> {
    fileprivate static let headerValue = scalar(
        "the value of a header field, without control characters",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            guard (try? ClientHandshake.Terms.check(HTTPField("X", text))) != nil else {
                throw MalformedValue("the value of a header field, without control characters")
            }
            return text
        },
        write: { _ in .quoted(secretMask) }
    )

    /// A file that can be read now.
    static let file = Form(
        read: { node, reader in
            guard reader.mayName("a file of the bridge's machine", at: node),
                let path = nonEmpty("the path of a file").read(node, &reader)
            else { return nil }
            let resolved = reader.resolved(path)
            reader.requireReadable(resolved, at: node)
            return resolved
        },
        write: { .quoted($0) }
    )

    static func nonEmpty(_ expectation: String) -> Form {
        scalar(
            expectation,
            parse: { text throws(MalformedValue) in
                guard !text.isEmpty, !text.utf8.contains(0) else { throw MalformedValue(expectation) }
                return text
            },
            write: { .quoted($0) }
        )
    }

    /// A token of HTTP (RFC 9110 §5.6.2).
    static let subprotocol = scalar(
        "a subprotocol, without spaces and separators",
        parse: { text throws(MalformedValue) in
            guard text.isToken else { throw MalformedValue("a subprotocol, without spaces and separators") }
            return text
        },
        write: { .quoted($0) }
    )
}

extension Form<Secret> {
    /// As long as OpenSSL can be told.
    static let password = scalar(
        "a password of 1 to 1024 bytes",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            guard (1...1024).contains(text.utf8.count) else {
                throw MalformedValue("a password of 1 to 1024 bytes")
            }
            return Secret(text)
        },
        write: { _ in .quoted(secretMask) }
    )
}

extension Form<[String]> {
    static let subprotocols = list(.subprotocol, identities: { [(key: $0, name: "")] })
}

extension Form<UInt16> {
    /// A code that a close frame may carry.
    static let closeCode = scalar(
        "a close code that may be sent: 1000-1003, 1007-1014 or 3000-4999",
        parse: { text throws(MalformedValue) in
            guard let code = UInt16(digits: text), CloseCode.mayBeOnTheWire(code) else {
                throw MalformedValue("a close code that may be sent: 1000-1003, 1007-1014 or 3000-4999")
            }
            return code
        },
        write: { .plain(String($0)) }
    )
}

extension Form<ClosedRange<UInt16>> {
    /// One close code, or a range of them such as `4000-4099`.
    static let closeCodes = scalar(
        "a close code from 1000 to 4999, or a range such as 4000-4099",
        parse: { text throws(MalformedValue) in
            let bounds = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            let codes = bounds.compactMap { UInt16(digits: $0) }
            guard codes.count == bounds.count, let first = codes.first, let last = codes.last,
                (1000...4999).contains(first), (first...4999).contains(last)
            else { throw MalformedValue("a close code from 1000 to 4999, or a range such as 4000-4099") }
            return first...last
        },
        write: { codes in
            codes.count == 1
                ? .plain(String(codes.lowerBound)) : .plain("\(codes.lowerBound)-\(codes.upperBound)")
        }
    )
}
