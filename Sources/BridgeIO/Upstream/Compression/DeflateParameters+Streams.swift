package import WebSocketProtocol

extension DeflateParameters {
    /// What inflates the messages of the other end.
    package nonisolated func inflater(for role: Role) -> any MessageInflater {
        switch role {
        case .client: Inflater(windowBits: serverMaxWindowBits, keepsContext: !serverNoContextTakeover)
        case .server: Inflater(windowBits: clientMaxWindowBits, keepsContext: !clientNoContextTakeover)
        }
    }

    /// What deflates our own messages.
    package nonisolated func deflater(for role: Role) -> any MessageDeflater {
        switch role {
        case .client: Deflater(windowBits: clientMaxWindowBits, keepsContext: !clientNoContextTakeover)
        case .server: Deflater(windowBits: serverMaxWindowBits, keepsContext: !serverNoContextTakeover)
        }
    }
}
