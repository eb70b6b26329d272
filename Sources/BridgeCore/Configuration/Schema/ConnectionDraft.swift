/// A connection while it is read: the URL may still come from a flag.
struct ConnectionDraft: Sendable {
    var source: URLSource?
    var upstream = UpstreamSettings()
    var settings = ConnectionSettings()
    /// What becomes `onOpen` and `rules` of the settings; nil are those with which something is wrong.
    var steps: [OpenStep?] = []
    var rules: [Rule?] = []
    /// The file of the preset that it begins with.
    var preset: String?
    /// Where it stands in the file.
    var position = ConfigurationNode.Position(line: 1, column: 1)

    init() {}

    init(_ connection: ConnectionConfiguration) {
        source = connection.source
        upstream = connection.upstream
        settings = connection.settings
        steps = settings.onOpen
        rules = settings.rules
    }

    /// Reads a section of `connections`, with its preset, and says all that is wrong with it.
    init(_ node: ConfigurationNode, _ reader: inout ConfigurationReader) {
        self = reader.withPreset(of: node) { merged, preset, reader in
            var draft = ConnectionDraft(merged: merged, &reader)
            draft.position = node.position
            draft.preset = preset?.file
            return draft
        }
    }

    /// Reads settings as they are.
    init(merged node: ConfigurationNode, _ reader: inout ConfigurationReader) {
        position = node.position
        ConnectionDraft.fields.read(node, into: &self, &reader)
        settings.onOpen = steps.compactMap(\.self)
        settings.rules = rules.compactMap(\.self)
        check(&reader)
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
        .beforehand("preset"),
        .beforehand("parameters"),
        Field("url", \.source, .required(.urlSource), keys: URLProviderDraft.fields.schema()),
        Field("resumeUrl", \.settings.resumeURL, .optional(.resumeURL)),
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
        Field("onOpen", \.steps, OpenStep.list, keys: OpenStepDraft.fields.schema()),
        Field("rules", \.rules, Rule.list, keys: RuleDraft.fields.schema()),
        Field("request", \.settings.request, RequestSettings.form, keys: RequestSettings.fields.schema()),
    ]

    /// Shorter timeouts could not be met by a machine that is busy.
    private static let shortest = Duration.milliseconds(10)
}

extension ConnectionDraft {
    /// Complains about settings that contradict one another, each alone being right.
    func check(_ reader: inout ConfigurationReader) {
        let scripts = ScriptChecks(self, reader)
        scripts.check(&reader)
        reader.inside("heartbeat") { reader in
            settings.heartbeat.check(
                isReceiveOnly: settings.receiveOnly,
                captured: scripts.captured,
                &reader
            )
        }
        if upstream.requireSubprotocol, upstream.subprotocols.isEmpty, !reader.isBroken("subprotocols") {
            reader.inside("requireSubprotocol") { reader in
                reader.complain(reader.position ?? position, "needs subprotocols to choose from")
            }
        }
        checkTLS(&reader)
        guard settings.reconnect.initialDelay > settings.reconnect.maxDelay else { return }
        reader.inside("reconnect") { reader in
            guard !reader.isBroken("initialDelay"), !reader.isBroken("maxDelay") else { return }
            let place = reader.inside("initialDelay") { $0.position } == nil ? "maxDelay" : "initialDelay"
            reader.inside(place) { reader in
                reader.complain(
                    reader.position ?? position,
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
                reader.inside(key) { $0.complain($0.position ?? position, "needs a certificate beside it") }
            }
            for fault in reader.faults(of: tls) where !reader.isBroken(fault.setting.rawValue) {
                reader.inside(fault.setting.rawValue) { $0.complain($0.position ?? position, fault.text) }
            }
        }
    }
}
