/// A connection while it is read: the URL may still come from a flag.
struct ConnectionDraft: Sendable {
    var source: URLSource?
    var upstream = UpstreamSettings()
    var settings = ConnectionSettings()
    /// Where it stands in the file.
    var line = 0

    init() {}

    init(_ connection: ConnectionConfiguration) {
        source = connection.source
        upstream = connection.upstream
        settings = connection.settings
    }

    /// Nil without a URL.
    var finished: ConnectionConfiguration? {
        guard let source else { return nil }
        var connection = ConnectionConfiguration(source)
        connection.upstream = upstream
        connection.settings = settings
        return connection
    }

    /// A section of `connections`.
    static let fields: [Field<ConnectionDraft>] = [
        .later("preset", only: .null),
        .later("parameters", only: .emptyMapping),
        Field("url", \.source, .required(.urlSource), keys: URLProviderDraft.fields.schema()),
        .later("resumeUrl", only: .null),
        Field("connect", \.settings.connect, .word()),
        Field("idleTimeout", \.settings.idleTimeout, .duration(shortest ... .seconds(86_400))),
        Field("headers", \.upstream.headers, .headers),
        Field("subprotocols", \.upstream.subprotocols, .subprotocols),
        Field("requireSubprotocol", \.upstream.requireSubprotocol, .flag),
        Field("connectTimeout", \.settings.connectTimeout, .duration(shortest ... .seconds(3600))),
        Field("closeTimeout", \.settings.closeTimeout, .duration(shortest ... .seconds(3600))),
        Field("compression", \.upstream.compression, .flag),
        Field("maxMessageBytes", \.upstream.maxMessageBytes, .size(1...1 << 30)),
        .section("tls", \.upstream.tls, TLSSettings.fields),
        Field("proxy", \.upstream.proxy, .proxy),
        .section("heartbeat", \.settings.heartbeat, HeartbeatSettings.fields),
        .section("reconnect", \.settings.reconnect, ReconnectSettings.fields),
        Field("network", \.settings.network, .word()),
        Field("receiveOnly", \.settings.receiveOnly, .flag),
        Field("rate", \.settings.rate, .optional(RateSettings.form), keys: RateSettings.fields.schema()),
        .section("outbox", \.settings.outbox, OutboxSettings.fields),
        .later(
            "onOpen",
            only: .emptyList,
            keys: .later("send", "expect", "timeout", "capture", "forward", "when")
        ),
        .later(
            "rules",
            only: .emptyList,
            keys: .later(
                "when",
                "reply",
                "capture",
                "heartbeatInterval",
                "action",
                "urlPointer",
                "forward",
                "topic"
            )
        ),
        .later("request", only: .null, keys: .later("correlate", "id")),
    ]

    /// Shorter timeouts could not be met by a machine that is busy.
    private static let shortest = Duration.milliseconds(10)
}

extension ConnectionDraft {
    /// Complains about settings that contradict one another, each alone being right.
    func check(_ reader: inout ConfigurationReader) {
        reader.inside("heartbeat") { reader in
            settings.heartbeat.check(isReceiveOnly: settings.receiveOnly, captured: [], &reader)
        }
        if upstream.requireSubprotocol, upstream.subprotocols.isEmpty, !reader.isBroken("subprotocols") {
            reader.inside("requireSubprotocol") { reader in
                reader.complain(reader.line ?? line, "needs subprotocols to choose from")
            }
        }
        checkTLS(&reader)
        guard settings.reconnect.initialDelay > settings.reconnect.maxDelay else { return }
        reader.inside("reconnect") { reader in
            guard !reader.isBroken("initialDelay"), !reader.isBroken("maxDelay") else { return }
            let place = reader.inside("initialDelay") { $0.line } == nil ? "maxDelay" : "initialDelay"
            reader.inside(place) { reader in
                reader.complain(
                    reader.line ?? line,
                    "initialDelay (\(settings.reconnect.initialDelay.text)) is longer than "
                        + "maxDelay (\(settings.reconnect.maxDelay.text))"
                )
            }
        }
    }

    /// Complains about certificates and keys with which no attempt could succeed.
    private func checkTLS(_ reader: inout ConfigurationReader) {
        let tls = upstream.tls
        guard tls != TLSSettings() else { return }
        let idle = [("key", tls.keyFile != nil), ("keyPassword", tls.keyPassword != nil)].filter(\.1)
        reader.inside("tls") { reader in
            for (key, _) in idle where tls.certificateFile == nil && !reader.isBroken("certificate") {
                reader.inside(key) { $0.complain($0.line ?? line, "needs a certificate beside it") }
            }
            for fault in reader.faults(of: tls) where !reader.isBroken(fault.setting.rawValue) {
                reader.inside(fault.setting.rawValue) { $0.complain($0.line ?? line, fault.text) }
            }
        }
    }
}
