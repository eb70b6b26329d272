import BridgeCore
import WebSocketProtocol

/// A request: its first line is the method, its second one the target, then come fields up to an empty line, then the body.
///
/// Whatever it is, it is answered by what HTTP has, or served by a route whose parameters can be used.
func fuzzRequest(_ bytes: [UInt8], setup: UInt8) {
    var lines = bytes.split(separator: 0x0A, maxSplits: 64, omittingEmptySubsequences: false)[...]
    guard let method = lines.popFirst(), let target = lines.popFirst() else { return }
    var fields = [HTTPField("Host", setup & 1 == 0 ? "localhost" : "h.example")]
    while let line = lines.popFirst(), !line.isEmpty {
        let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
        fields.append(HTTPField(text(parts[0]), parts.count == 2 ? text(parts[1]) : ""))
    }
    let body = Array(lines.joined(separator: [0x0A]))
    let head = RequestHead(
        method: text(method),
        target: Array(target),
        version: setup & 2 == 0 ? .http11 : .http10,
        fields: fields,
        client: setup & 4 == 0 ? .ip("127.0.0.1") : .unix
    )
    let gate = RequestGate(settings(setup), ownNames: ["h.example"])
    switch gate.admit(head, connections: setup & 32 == 0 ? ["default", "other"] : ["a", "b"]) {
    case .answer(let response): check(response)
    case .serve(let request): serve(request, body: body)
    }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func settings(_ setup: UInt8) -> HTTPSettings {
    var settings = HTTPSettings()
    if setup & 8 != 0 { settings.tokens = [AccessToken(name: "t", secret: Secret("t"))] }
    if setup & 16 != 0 { settings.allowedOrigins = ["https://h.example"] }
    settings.dynamicConnections = setup & 64 != 0
    return settings
}

private func check(_ response: HTTPResponse) {
    precondition(200..<500 ~= response.status || response.status == 503, "no answer to a request")
    for field in response.ownFields + response.addedFields {
        precondition(
            !field.value.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F },
            "a field breaks its line"
        )
    }
}

/// Uses what the route has of the request.
private func serve(_ request: AdmittedRequest, body: [UInt8]) {
    let now = WallTime(millisecondsSince1970: 1_800_000_000_000)
    let connection = ConnectionSelection([ConnectionIndex]())
    do throws(Problem) {
        switch request.route {
        case .events(_, let query), .mergedEvents(_, _, let query):
            _ = query.position(at: now)
            _ = query.subscription(to: connection, at: now)
        case .poll(_, let query):
            _ = query.position(at: now)
            precondition(1...1000 ~= query.limit, "a poll takes no limit")
        case .send(_, let order):
            for message in try order.messages(in: body) where message.kind == .text {
                precondition(String(validating: message.bytes, as: UTF8.self) != nil, "a text is not UTF-8")
            }
        case .request(_, let order):
            _ = try Message(order.kind, body: body)
        case .disconnect:
            let order = try DisconnectRequest(body: body)
            precondition(CloseCode.mayBeOnTheWire(order.code), "a code that may not be sent")
            precondition(order.reason.utf8.count <= 123, "a reason does not fit")
        case .file, .health, .readiness, .connectionList, .status, .put, .remove, .subscribers, .outbox,
            .dropOutbox,
            .message, .dropMessage, .connect, .reconnect, .pause, .resume:
            break
        }
    } catch {
        check(HTTPResponse(error))
    }
}
