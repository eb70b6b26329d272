extension BridgeEndpoint {
    /// Reads what `wsbridge health` is given.
    ///
    /// Throws all that is wrong, not only the first.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) throws(StartError) {
        var reader = SettingReader(arguments, environment, for: .health)
        self = BridgeEndpoint(&reader, environment, files)
        try reader.finish()
    }

    /// Finds the bridge as `serve` finds its address, and the token for it.
    ///
    /// Of a file only the address matters: what else is wrong with it is not this command's business.
    fileprivate init(
        _ reader: inout SettingReader,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) {
        var listen = HTTPSettings().listen
        var place = reader.place(of: .listen)
        if reader.isGiven(.listen) {
            reader.read(.listen, ListenAddress.init(text:)) { listen = $0 }
        } else if let path = reader.configurationFile {
            place = path
            let file = ConfigurationFile(path: path, environment: environment, files: files)
            reader.complain(
                file.complaintsByLine.filter { complaint in
                    !file.isParsed || ["http:", "http.listen:"].contains { complaint.text.hasPrefix($0) }
                }
            )
            listen = file.draft.http.listen
        }
        if listen.reachable == nil {
            reader.complain(place, "a bridge on port 0 cannot be found; name the port it really has", .usage)
        }
        self.init(address: listen.reachable ?? listen)
    }

    /// The same with the token.
    fileprivate static func authorized(
        _ reader: inout SettingReader,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) -> BridgeEndpoint {
        var endpoint = BridgeEndpoint(&reader, environment, files)
        reader.read(.token, Secret.init(bearerToken:)) { endpoint.token = $0 }
        return endpoint
    }
}

extension SendOrder {
    /// Reads what `wsbridge send` is given; throws all that is wrong.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) throws(StartError) {
        var reader = SettingReader(arguments, environment, for: .send)
        self.init(endpoint: .authorized(&reader, environment, files))
        reader.read(.connection, ConnectionName.read) { connection = $0 }
        reader.read(.wait, Duration.init(text:)) { wait = $0 }
        text = arguments.operands.first { $0 != "-" }
        try reader.finish()
    }
}

extension TailOrder {
    /// Reads what `wsbridge tail` is given; throws all that is wrong.
    init(
        _ arguments: CommandArguments,
        _ environment: [String: String],
        _ files: ConfigurationFiles
    ) throws(StartError) {
        var reader = SettingReader(arguments, environment, for: .tail)
        self.init(endpoint: .authorized(&reader, environment, files))
        reader.read(.connection, ConnectionName.read) { connection = $0 }
        reader.read(.since, Start.init(text:)) { start = $0 }
        reader.read(.format, Format.init(text:)) { format = $0 }
        var showsStatus = false
        reader.read(.types, RecordTypes.named) { (types: RecordTypes) in
            showsStatus = types.contains(.status)
        }
        types = arguments.flags[.types]
        if showsStatus, format == .raw {
            reader.complain(
                Setting.types.flag,
                "raw shows no status; choose --format sse, json or ndjson",
                .usage
            )
        }
        try reader.finish()
    }
}

extension TailOrder.Start {
    init(text: String) throws(MalformedValue) {
        if let position = StartPosition(since: text) {
            self = .position(position)
        } else if let duration = try? Duration(text: text) {
            self = .ago(duration)
        } else {
            throw MalformedValue(
                "start, now, an event's id, a duration such as 10m or a time such as 2026-11-30T08:00:00Z"
            )
        }
    }
}

extension TailOrder.Format {
    init(text: String) throws(MalformedValue) {
        guard let format = TailOrder.Format(rawValue: text) else {
            throw MalformedValue("sse, json, ndjson or raw")
        }
        self = format
    }
}

extension RecordTypes {
    fileprivate static func named(_ text: String) throws(MalformedValue) -> RecordTypes {
        guard let types = RecordTypes(list: text) else {
            throw MalformedValue("some of text, binary and status, joined by commas")
        }
        return types
    }
}

extension ConnectionName {
    fileprivate static func read(_ text: String) throws(MalformedValue) -> String {
        guard isValid(text) else { throw MalformedValue("a connection's name (\(expectation))") }
        return text
    }
}

extension SettingReader {
    /// Throws what was wrong, if anything was.
    fileprivate func finish() throws(StartError) {
        guard complaints.isEmpty else { throw StartError(complaints) }
    }
}
