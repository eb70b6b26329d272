internal import BridgeCore
internal import CMicroHTTPD
internal import Glibc
internal import WebSocketProtocol

/// A request's head as the daemon has it, lent for the duration of a call.
@safe nonisolated struct ReceivedHead {
    private let connection: OpaquePointer
    private let client: ClientAddress
    private let target: [UInt8]
    private let method: UnsafePointer<CChar>
    private let version: UnsafePointer<CChar>

    /// Takes what libmicrohttpd passes to its handler; `target` is what came before it was unescaped.
    init(
        _ connection: OpaquePointer,
        from client: ClientAddress,
        target: [UInt8],
        path: UnsafePointer<CChar>,
        method: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>
    ) {
        unsafe self.connection = connection
        self.client = client
        // All of the request line lies in one buffer, its parts separated by one NUL each. If there is more between
        // target and version, the client sent a NUL in the target, which is put back here to be refused.
        let distance = Int(bitPattern: version) - Int(bitPattern: path)
        self.target = distance == target.count + 1 ? target : target + [0]
        unsafe self.method = unsafe method
        unsafe self.version = unsafe version
    }

    /// Draws all that the head says.
    func draw(on canvas: HeadCanvas) {
        canvas.clear()
        unsafe canvas.append(bytes(of: method))
        unsafe canvas.append(bytes(of: version))
        unsafe target.withUnsafeBytes { unsafe canvas.append($0) }
        var client = client.text
        client.withUTF8 { unsafe canvas.append(UnsafeRawBufferPointer($0)) }
        var drawing = FieldDrawing(canvas: canvas)
        unsafe withUnsafeMutablePointer(to: &drawing) { drawing in
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, drawField, drawing)
        }
        // Something more than the name and the value of each: no head that is whole looks like that.
        if !isWhole(drawing.spacing) { unsafe canvas.append(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    /// The head, read.
    var head: RequestHead {
        var collection = FieldCollection()
        unsafe withUnsafeMutablePointer(to: &collection) { collection in
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, collectField, collection)
        }
        var fields = collection.fields
        // What is missing is put back as a NUL, to be refused.
        if !isWhole(collection.spacing), let last = fields.indices.last { fields[last].value += "\0" }
        return unsafe RequestHead(
            method: text(bytes(of: method)),
            target: target,
            version: text(bytes(of: version)) == "HTTP/1.0" ? .http10 : .http11,
            fields: fields,
            client: client
        )
    }
}

extension ReceivedHead {
    /// Whether nothing is missing between these fields, nor behind them.
    private nonisolated func isWhole(_ spacing: HeadSpacing) -> Bool {
        var spacing = spacing
        let length = unsafe wsbridge_head_bytes(connection)
        if length > 0 { unsafe spacing.end(at: Int(bitPattern: method) + length) }
        return spacing.isWhole
    }
}

private nonisolated struct FieldDrawing {
    let canvas: HeadCanvas
    var spacing = HeadSpacing()
}

private nonisolated struct FieldCollection {
    var fields: [HTTPField] = []
    var spacing = HeadSpacing()
}

/// Draws one field where the drawing says that `context` points to for the duration of the call.
private nonisolated func drawField(
    _ context: UnsafeMutableRawPointer?,
    _ kind: MHD_ValueKind,
    _ name: UnsafePointer<CChar>?,
    _ nameLength: Int,
    _ value: UnsafePointer<CChar>?,
    _ valueLength: Int
) -> MHD_Result {
    if unsafe CookieStop.isOurs(name) { return .YES }
    guard let drawing = unsafe context?.assumingMemoryBound(to: FieldDrawing.self) else { return .NO }
    let canvas = unsafe drawing.pointee.canvas
    unsafe canvas.append(UnsafeRawBufferPointer(start: name, count: nameLength))
    unsafe canvas.append(UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueLength))
    unsafe drawing.pointee.spacing.pass(from: Int(bitPattern: name), to: Int(bitPattern: value) + valueLength)
    return .YES
}

/// Appends one field to the collection that `context` points to for the duration of the call.
private nonisolated func collectField(
    _ context: UnsafeMutableRawPointer?,
    _ kind: MHD_ValueKind,
    _ name: UnsafePointer<CChar>?,
    _ nameLength: Int,
    _ value: UnsafePointer<CChar>?,
    _ valueLength: Int
) -> MHD_Result {
    if unsafe CookieStop.isOurs(name) { return .YES }
    let (start, end) = (Int(bitPattern: name), Int(bitPattern: value) + valueLength)
    let name = unsafe text(UnsafeRawBufferPointer(start: name, count: nameLength))
    // The blanks in front are passed over by libmicrohttpd, those behind are not (RFC 9110 §5.5).
    var length = unsafe value == nil ? 0 : valueLength
    while length > 0, let value = unsafe value, unsafe value[length - 1] == 0x20 || value[length - 1] == 0x09
    {
        length -= 1
    }
    let text = unsafe text(UnsafeRawBufferPointer(start: value, count: length))
    guard let collection = unsafe context?.assumingMemoryBound(to: FieldCollection.self) else { return .NO }
    unsafe collection.pointee.fields.append(HTTPField(name, text))
    unsafe collection.pointee.spacing.pass(from: start, to: end)
    return .YES
}

private nonisolated func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes, as: UTF8.self)
}

private nonisolated func bytes(of string: UnsafePointer<CChar>) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: string, count: strlen(string))
}
