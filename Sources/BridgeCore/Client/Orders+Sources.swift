/// What the commands that talk to a bridge take their orders from.
struct OrderSources {
    let arguments: CommandArguments
    let environment: [String: String]
    let files: ConfigurationFiles

    init(_ arguments: CommandArguments, _ environment: [String: String], _ files: ConfigurationFiles) {
        self.arguments = arguments
        self.environment = environment
        self.files = files
    }

    /// Reads an order: `read` makes it of what is given, for the bridge that was found.
    ///
    /// Throws all that is wrong, not only the first.
    func order<Order>(
        for command: Command,
        _ read: (inout SettingReader, BridgeEndpoint) -> Order
    ) throws(StartError) -> Order {
        var reader = SettingReader(arguments, environment, for: command)
        var endpoint = self.endpoint(&reader, isTrusting: command == .health)
        // Whether the bridge is alive is told to everybody.
        if command != .health {
            reader.read(.token, Secret.init(bearerToken:)) { endpoint.token = $0 }
        }
        let order = read(&reader, endpoint)
        guard reader.complaints.isEmpty else { throw StartError(reader.complaints) }
        return order
    }

    /// Finds the bridge as `serve` finds its address.
    ///
    /// Of a file only the address matters, and the certificate by which the bridge is known: what else is wrong with it
    /// is not this command's business.
    private func endpoint(_ reader: inout SettingReader, isTrusting: Bool) -> BridgeEndpoint {
        var endpoint = BridgeEndpoint(address: HTTPSettings().listen)
        var place = reader.place(of: .listen)
        let file = reader.configurationFile.map { path in
            ConfigurationFile(path: path, environment: environment, files: files)
        }
        var concerns: [String] = []
        if reader.isGiven(.listen) {
            reader.read(.listen, ListenAddress.init(text:)) { endpoint.address = $0 }
        } else if let file {
            place = file.path
            concerns = ["http:", "http.listen:"]
            endpoint.address = file.draft.http.listen
        }
        if let tls = file?.draft.http.tls {
            endpoint.peer = isTrusting ? .anybody : .holder(ofFirstIn: tls.certificateFile)
            if !isTrusting { concerns += ["http.tls:", "http.tls.certificate:"] }
        }
        if let file, !concerns.isEmpty {
            reader.complain(
                file.complaintsByLine.filter { complaint in
                    !file.isParsed || concerns.contains { complaint.text.hasPrefix($0) }
                }
            )
        }
        if endpoint.address.reachable == nil {
            reader.complain(place, "a bridge on port 0 cannot be found; name the port it really has", .usage)
        }
        endpoint.address = endpoint.address.reachable ?? endpoint.address
        return endpoint
    }
}

extension BridgeEndpoint {
    /// Reads what `wsbridge health` is given.
    init(_ sources: OrderSources) throws(StartError) {
        self = try sources.order(for: .health) { _, endpoint in endpoint }
    }
}

extension SendOrder {
    /// Reads what `wsbridge send` is given.
    init(_ sources: OrderSources) throws(StartError) {
        self = try sources.order(for: .send) { reader, endpoint in
            var order = SendOrder(endpoint: endpoint)
            reader.read(.connection, ConnectionName.read) { order.connection = $0 }
            reader.read(.wait, AnswerWait.written) { order.wait = $0 }
            order.text = sources.arguments.operands.first { $0 != "-" }
            return order
        }
    }
}

extension TailOrder {
    /// Reads what `wsbridge tail` is given.
    init(_ sources: OrderSources) throws(StartError) {
        self = try sources.order(for: .tail) { reader, endpoint in
            var order = TailOrder(endpoint: endpoint)
            var types = RecordTypes()
            reader.read(.connection, ConnectionName.read) { order.connection = $0 }
            reader.read(.since, Start.init(text:)) { order.start = $0 }
            reader.read(.format, Format.init(text:)) { order.format = $0 }
            reader.read(.types, RecordTypes.named) { types = $0 }
            order.types = sources.arguments.flags[.types]
            if types.contains(.status), order.format == .raw {
                let advice = "raw shows no status; choose --format sse, json or ndjson"
                reader.complain(Setting.types.flag, advice, .usage)
            }
            return order
        }
    }
}

extension AnswerWait {
    fileprivate static func written(_ text: String) throws(MalformedValue) -> Duration {
        guard let wait = try? Duration(text: text), wait <= longest else {
            throw MalformedValue("a duration such as 5s or 1m, of at most \(longest.text)")
        }
        return wait
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
