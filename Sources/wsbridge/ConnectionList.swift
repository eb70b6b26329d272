internal import BridgeCore
internal import BridgeIO
internal import WebSocketProtocol

/// The list of connections with their states, made piece by piece: ten thousand of them are megabytes, which neither have to
/// be held nor keep the loop from its work.
///
/// Each is shown as it is when its turn comes; those that are removed meanwhile are not shown any more.
final class ConnectionList: BodySource {
    private var rest: ArraySlice<BridgedConnection>
    private var part = Part.beginning

    private enum Part {
        /// Becomes first or end.
        case beginning
        /// No connection has been written. Becomes following or end.
        case first
        /// Becomes end.
        case following
        case end
    }

    /// About what is made at a time: a fraction of a millisecond of work.
    private static let pieceBytes = 16 * 1024

    init(of connections: [BridgedConnection]) {
        rest = connections[...]
    }

    func next() -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < ConnectionList.pieceBytes {
            switch part {
            case .beginning:
                bytes += Array(#"{"connections":["#.utf8)
                part = .first
            case .first, .following:
                guard let connection = rest.popFirst() else {
                    bytes += Array("]}\n".utf8)
                    part = .end
                    continue
                }
                guard !connection.isRemoved else { continue }
                if case .following = part { bytes.append(UInt8(ascii: ",")) }
                part = .following
                var json = JSONWriter()
                json.object { connection.writeStatus(to: &$0) }
                bytes += json.bytes
            case .end:
                return bytes.isEmpty ? nil : bytes
            }
        }
        return bytes
    }
}

extension Bridge {
    func connectionList(_ request: AdmittedRequest) -> HTTPAnswer {
        let covered = sortedConnections.filter { request.caller.covers(connection: $0.upstream.name) }
        return .pieces(fields: HTTPResponse.jsonType + request.fields, source: ConnectionList(of: covered))
    }
}
