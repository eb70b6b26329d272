extension TLSSettings {
    /// The section `tls` of a connection.
    static let fields: [Field<TLSSettings>] = [
        Field("ca", \.authorityFile, .optional(.file)),
        Field("certificate", \.certificateFile, .optional(.file)),
        Field("key", \.keyFile, .optional(.file)),
        Field("keyPassword", \.keyPassword, .optional(.password)),
        Field("serverName", \.serverName, .optional(.nonEmpty("a name or an address"))),
        Field("verify", \.verifies, .flag),
    ]
}

extension HeartbeatSettings {
    /// The section `heartbeat`.
    static let fields: [Field<HeartbeatSettings>] = [
        Field(
            "interval",
            \.interval,
            .duration(.milliseconds(10) ... .seconds(86_400), orZero: true)
        ),
        Field("missLimit", \.missLimit, .number(1...1000)),
        Field("first", \.first, .word()),
        Field("send", \.send, .beat),
        Field("expect", \.expect, .optional(.matcher)),
        Field("reply", \.reply, .optional(.messageTemplate)),
        Field("alive", \.alive, .word()),
        Field("closeCode", \.closeCode, .optional(.closeCode)),
    ]
}

extension ReconnectSettings {
    /// The section `reconnect`.
    static let fields: [Field<ReconnectSettings>] = [
        Field("enabled", \.enabled, .flag),
        // Never zero: a server that accepts and closes at once must not be hammered.
        Field("initialDelay", \.initialDelay, .duration(.milliseconds(10) ... .seconds(86_400))),
        Field("factor", \.factor, .decimal(1...1000)),
        Field("maxDelay", \.maxDelay, .duration(.milliseconds(10) ... .seconds(86_400))),
        Field("jitter", \.jitter, .decimal(0...1)),
        Field("maxRetries", \.maxRetries, .optional(.number(0...1_000_000_000))),
        Field("resetAfter", \.resetAfter, .duration(.zero ... .seconds(86_400))),
        Field("stopOnCloseCodes", \.stopOnCloseCodes, .list(.closeCodes)),
        Field("forgetOnCloseCodes", \.forgetOnCloseCodes, .list(.closeCodes)),
        Field("stopOnStatus", \.stopOnStatus, .list(.number(100...599))),
    ]
}

extension OutboxSettings {
    /// The section `outbox`.
    static let fields: [Field<OutboxSettings>] = [
        Field("whenOffline", \.whenOffline, .word()),
        Field("maxMessages", \.maxMessages, .number(1...10_000_000)),
        Field("maxBytes", \.maxBytes, .size(1...1 << 40)),
        Field("maxAge", \.maxAge, .optional(.duration(.milliseconds(1) ... .longestWritten))),
        Field("overflow", \.overflow, .word()),
        Field("confirm", \.confirm, .word()),
        Field("wakes", \.wakes, .flag),
    ]
}

extension RateSettings {
    /// A rate while it is read.
    struct Draft: Sendable {
        var messages: Int?
        var per: Duration?
    }

    /// The section `rate`.
    ///
    /// The bound on `messages` is one on the times that are remembered.
    static let fields: [Field<Draft>] = [
        Field("messages", \.messages, .required(.number(1...100_000))),
        Field("per", \.per, .required(.duration(.milliseconds(1) ... .seconds(86_400)))),
    ]

    static let form: Form<RateSettings> = fields.form(startingFrom: Draft(), needed: ["messages", "per"])
        .finished(
            { draft in
                guard let messages = draft.messages, let per = draft.per else { return nil }
                return RateSettings(messages: messages, per: per)
            },
            back: { Draft(messages: $0.messages, per: $0.per) }
        )
}
