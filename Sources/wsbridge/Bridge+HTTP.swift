internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

extension Bridge: HTTPHandler {
    func admit(_ head: RequestHead) -> Admission {
        gate.admit(head, connections: connectionNames, sessions: sessions)
    }

    func serve(_ request: AdmittedRequest, body: [UInt8], from head: RequestHead) -> HTTPAnswer {
        do throws(Problem) {
            return try answer(request, body: body, from: head)
        } catch {
            return .response(HTTPResponse(error).adding(request.fields))
        }
    }

    private func answer(
        _ request: AdmittedRequest,
        body: [UInt8],
        from head: RequestHead
    ) throws(Problem) -> HTTPAnswer {
        switch request.route {
        case .file(let path):
            guard let file = files[path] else { throw .notFound("there is no such file") }
            return .response(file.response(to: head).adding(request.fields))
        case .health:
            guard store?.isStalled != true else { throw .storageStalled }
            return .response(json(request) { $0.member("status", "ok") })
        case .session:
            return .response(session(request))
        case .beginSession:
            return .response(try beginSession(request))
        case .endSession:
            return .response(endSession(request, from: head))
        case .metrics:
            return metrics(request)
        case .connectionList:
            return connectionList(request)
        case .status(let name):
            return .response(try status(of: name, request))
        case .put(let name):
            return .response(try put(name, body, request))
        case .remove(let name):
            return try remove(name, request)
        case .events(let name, let query):
            return try events(of: [name], query, request, from: head)
        case .mergedEvents(let names, let scope, let query):
            return try events(of: names, in: scope, query, request, from: head)
        case .subscribers(let name):
            return .response(try subscribers(of: name, request))
        case .poll(let name, let query):
            return try poll(name, query, request)
        case .readiness:
            return .response(readiness(request))
        case .send(let name, let order):
            return try send(order, body: body, to: name, request)
        case .request(let name, let order):
            return try self.request(order, body: body, to: name, request)
        case .outbox(let name):
            return .response(try outbox(of: name, request))
        case .dropOutbox(let name):
            return try dropOutbox(of: name, request)
        case .message(let name, let id):
            return .response(try message(id, of: name, request))
        case .dropMessage(let name, let id):
            return try dropMessage(id, of: name, request)
        case .connect(let name):
            return .response(try control(name, request) { $0.connect() })
        case .disconnect(let name):
            let order = try DisconnectRequest(body: body)
            return .response(
                try control(name, request) { $0.disconnect(code: order.code, reason: order.reason) }
            )
        case .reconnect(let name):
            return .response(try control(name, request) { $0.reconnect() })
        case .pause(let name):
            return .response(try control(name, request) { $0.pause() })
        case .resume(let name):
            return .response(try control(name, request) { $0.resume() })
        }
    }

    // MARK: Resources

    func connection(_ name: String) throws(Problem) -> BridgedConnection {
        guard let connection = connections[name] else { throw .notFound("there is no such connection") }
        return connection
    }

    private func status(of name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPResponse {
        let connection = try connection(name)
        return json(request) { connection.writeStatus(to: &$0) }
    }

    /// Makes a connection, or gives it other settings; one that has them already is not touched.
    private func put(
        _ name: String,
        _ body: [UInt8],
        _ request: AdmittedRequest
    ) throws(Problem) -> HTTPResponse {
        guard shutdown == nil else { throw .bridgeStopping }
        let isNew = try put(name, try ConnectionConfiguration(ofClient: body, files: .ofClients))
        if let isNew {
            log.info(
                isNew ? "a client made a connection" : "a client changed a connection",
                ["connection": .text(name), "client": .text(request.caller.name)]
            )
        }
        guard isNew == true else { return try status(of: name, request) }
        let connection = try connection(name)
        return json(request, status: 201, [HTTPField("Location", "/v1/connections/\(name)")]) {
            connection.writeStatus(to: &$0)
        }
    }

    private func remove(_ name: String, _ request: AdmittedRequest) throws(Problem) -> HTTPAnswer {
        guard shutdown == nil else { throw .bridgeStopping }
        _ = try connection(name)
        drop(name)
        log.info(
            "a client removed a connection",
            ["connection": .text(name), "client": .text(request.caller.name)]
        )
        return onceStored(HTTPResponse(status: 204, fields: request.fields), request)
    }

    /// Has a connection do something, and answers with its status.
    private func control(
        _ name: String,
        _ request: AdmittedRequest,
        _ order: (ManagedConnection) -> Void
    ) throws(Problem) -> HTTPResponse {
        order(try connection(name).upstream)
        return try status(of: name, request)
    }

    func json(
        _ request: AdmittedRequest,
        status: Int = 200,
        _ fields: [HTTPField] = [],
        _ members: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        HTTPResponse(status: status, fields: fields, members: members).adding(request.fields)
    }
}
