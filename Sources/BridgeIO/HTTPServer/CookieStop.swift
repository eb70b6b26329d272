internal import CMicroHTTPD

/// Keeps libmicrohttpd from taking cookies apart.
///
/// It copies the first `Cookie` of a head and notes each cookie of it, in the memory that the head has to fit into as well:
/// so a head that browsers send for localhost, with hundreds of cookies, would not. Nobody here asks for what it finds. As
/// the first `Cookie` it gets one of ours, in front of all that the client sent.
nonisolated enum CookieStop {
    private static let name: StaticString = "Cookie"
    private static let value: StaticString = "-"

    /// Puts our cookie in front of a request's fields, none of which has been read yet.
    static func stop(_ connection: OpaquePointer) {
        // Constants of the program, which outlive every request. Where there is no memory left the request is refused soon.
        _ = unsafe MHD_set_connection_value_n(
            connection,
            .HEADER_KIND,
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            name.utf8CodeUnitCount,
            UnsafeRawPointer(value.utf8Start).assumingMemoryBound(to: CChar.self),
            value.utf8CodeUnitCount
        )
    }

    /// Whether a field with this name is ours.
    static func isOurs(_ name: UnsafePointer<CChar>?) -> Bool {
        unsafe Int(bitPattern: name) == Int(bitPattern: CookieStop.name.utf8Start)
    }
}
