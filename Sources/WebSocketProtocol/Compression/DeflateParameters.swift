/// What both ends agreed on for permessage-deflate (RFC 7692 §7.1).
package struct DeflateParameters: Equatable, Sendable {
    /// The server's window, 8–15 bits: what the client needs to inflate.
    package var serverMaxWindowBits = 15
    /// The client's window, 8–15 bits: what the client may use to deflate.
    package var clientMaxWindowBits = 15
    /// The server starts each message with an empty window.
    package var serverNoContextTakeover = false
    /// The client starts each message with an empty window.
    package var clientNoContextTakeover = false

    package init() {}

    /// The field value with which a server accepts.
    package var responseValue: String {
        var value = DeflateOffer.name
        if serverNoContextTakeover { value += "; server_no_context_takeover" }
        if clientNoContextTakeover { value += "; client_no_context_takeover" }
        if serverMaxWindowBits < 15 { value += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if clientMaxWindowBits < 15 { value += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return value
    }
}

/// What a client offers of permessage-deflate (RFC 7692 §7.1).
package struct DeflateOffer: Equatable, Sendable {
    static let name = "permessage-deflate"

    /// Asks the server to start each message with an empty window.
    package var serverNoContextTakeover = false
    /// Hints that the client will do so.
    package var clientNoContextTakeover = false
    /// Asks the server for a window of at most so many bits.
    package var serverMaxWindowBits: Int?
    /// Lets the server limit the client's window; a hint of at most so many bits.
    package var clientMaxWindowBits: ClientWindow = .anyLimit

    /// The `client_max_window_bits` of an offer.
    package enum ClientWindow: Equatable, Sendable {
        /// Not mentioned: the server must not limit the client's window.
        case unlimited
        /// Mentioned without a value.
        case anyLimit
        case limited(Int)
    }

    package init() {}

    /// The value of `Sec-WebSocket-Extensions` in the request.
    package var requestValue: String {
        var value = DeflateOffer.name
        if serverNoContextTakeover { value += "; server_no_context_takeover" }
        if clientNoContextTakeover { value += "; client_no_context_takeover" }
        if let serverMaxWindowBits { value += "; server_max_window_bits=\(serverMaxWindowBits)" }
        switch clientMaxWindowBits {
        case .unlimited: break
        case .anyLimit: value += "; client_max_window_bits"
        case .limited(let bits): value += "; client_max_window_bits=\(bits)"
        }
        return value
    }
}

// MARK: - The client reads the server's answer

extension DeflateOffer {
    /// The parameters of an answer to this offer; nil when the answer is not one that §7.1 allows.
    func parameters(of answer: Extension) -> DeflateParameters? {
        guard answer.name == DeflateOffer.name, answer.hasDistinctParameters else { return nil }
        var agreed = DeflateParameters()
        for parameter in answer.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil):
                agreed.serverNoContextTakeover = true
            case ("client_no_context_takeover", nil):
                agreed.clientNoContextTakeover = true
            case ("server_max_window_bits", let value?):
                // A server may limit its own window unasked.
                guard let bits = windowBits(value), bits <= serverMaxWindowBits ?? 15 else { return nil }
                agreed.serverMaxWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard clientMaxWindowBits != .unlimited, let bits = windowBits(value) else { return nil }
                agreed.clientMaxWindowBits = bits
            default:
                return nil
            }
        }
        // What was asked for must have been granted.
        guard agreed.serverNoContextTakeover || !serverNoContextTakeover else { return nil }
        guard agreed.serverMaxWindowBits <= serverMaxWindowBits ?? 15 else { return nil }
        agreed.narrow(to: self)
        return agreed
    }
}

extension DeflateParameters {
    /// The client keeps to its own hints, though the server need not repeat them.
    fileprivate mutating func narrow(to offer: DeflateOffer) {
        if offer.clientNoContextTakeover { clientNoContextTakeover = true }
        if case .limited(let bits) = offer.clientMaxWindowBits {
            clientMaxWindowBits = min(clientMaxWindowBits, bits)
        }
    }
}

// MARK: - The server reads the client's offers

extension DeflateOffer {
    /// An offer as a server reads it; nil when it must decline it (§7.1).
    init?(_ offer: Extension) {
        guard offer.name == DeflateOffer.name, offer.hasDistinctParameters else { return nil }
        clientMaxWindowBits = .unlimited
        for parameter in offer.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil):
                serverNoContextTakeover = true
            case ("client_no_context_takeover", nil):
                clientNoContextTakeover = true
            case ("server_max_window_bits", let value?):
                guard let bits = windowBits(value) else { return nil }
                serverMaxWindowBits = bits
            case ("client_max_window_bits", nil):
                clientMaxWindowBits = .anyLimit
            case ("client_max_window_bits", let value?):
                guard let bits = windowBits(value) else { return nil }
                clientMaxWindowBits = .limited(bits)
            default:
                return nil
            }
        }
    }

    /// What a server answers that wants nothing more than the client asks for.
    package var accepted: DeflateParameters {
        var parameters = DeflateParameters()
        parameters.serverNoContextTakeover = serverNoContextTakeover
        parameters.clientNoContextTakeover = clientNoContextTakeover
        parameters.serverMaxWindowBits = serverMaxWindowBits ?? 15
        if case .limited(let bits) = clientMaxWindowBits { parameters.clientMaxWindowBits = bits }
        return parameters
    }
}

/// §7.1.2: a decimal number of 8–15 without leading zeros.
private func windowBits(_ text: String) -> Int? {
    guard text.utf8.allSatisfy(\.isASCIIDigit), !text.hasPrefix("0"), let bits = Int(text) else { return nil }
    return (8...15).contains(bits) ? bits : nil
}
