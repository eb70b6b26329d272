/// Writes what a stream may hold in one format, ready to go out on the connection.
///
/// A format without a form for something writes nothing for it.
package protocol StreamEncoder: Sendable {
    /// A record of the log; `connection` is the name of its connection.
    func append(_ record: Record, of connection: String, to bytes: inout [UInt8])
    /// Tells of records that the reader will never see.
    func append(_ gap: Gap, to bytes: inout [UInt8])
    /// The state in which a connection is when the stream begins, which is no record and has no id.
    ///
    /// `members` writes those of the connection's status.
    func appendSnapshot(
        of connection: String,
        at time: WallTime,
        to bytes: inout [UInt8],
        members: (inout JSONWriter) -> Void
    )
    /// Tells the client how long to wait before it comes back.
    func appendRetry(milliseconds: Int64, to bytes: inout [UInt8])
    /// Keeps the connection alive and shows the client nothing.
    func appendKeepAlive(to bytes: inout [UInt8])
    /// Moves the client's cursor without a record.
    func appendPosition(_ sequence: UInt64, to bytes: inout [UInt8])
}

extension StreamEncoder {
    package func appendRetry(milliseconds: Int64, to bytes: inout [UInt8]) {}
    package func appendKeepAlive(to bytes: inout [UInt8]) {}
    package func appendPosition(_ sequence: UInt64, to bytes: inout [UInt8]) {}
}

/// A lifecycle event as data: an object with `type`, `connection`, `time` and the event's own members.
enum StatusData {
    static func json(_ event: Lifecycle, of connection: String, at time: WallTime) -> [UInt8] {
        json(event.name, of: connection, at: time) { event.writeMembers(to: &$0) }
    }

    static func snapshot(
        of connection: String,
        at time: WallTime,
        _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        json("snapshot", of: connection, at: time, members)
    }

    private static func json(
        _ type: String,
        of connection: String,
        at time: WallTime,
        _ members: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("type", type)
            json.member("connection", connection)
            json.member("time", time.text)
            members(&json)
        }
        return json.bytes
    }
}
