import WebSocketProtocol

/// A tunnel through an HTTP proxy (RFC 9110 §9.3.6, CONNECT).
struct ConnectConversation: Sendable {
    let opening: [UInt8]
    private let isAuthorized: Bool
    private var head = ConnectConversation.reader(limit: maximumHeadBytes)
    /// Of the heads of interim answers.
    private var headBytes = 0

    /// Longer answers are refused; interim ones count as well.
    static let maximumHeadBytes = 16 * 1024

    /// With credentials they go out at once, as Basic, rather than after a 407: proxies that ask for them close often.
    init(to destination: Destination, credentials: WebSocketURL.Credentials?) {
        let authority = destination.authority
        var request = Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n".utf8)
        if let credentials {
            request += Array("Proxy-Authorization: Basic ".utf8)
            Base64.append(credentials.basicInput, to: &request)
            request += Array("\r\n".utf8)
        }
        opening = request + Array("\r\n".utf8)
        isAuthorized = credentials != nil
    }

    mutating func read(
        _ input: Span<UInt8>,
        from offset: inout Int
    ) throws(ProxyRefusal) -> ProxyConversation.Progress {
        while true {
            let start = offset
            let answer: HTTPHead?
            do throws(HTTPHeadReader.Failure) {
                answer = try head.read(input, from: &offset)
            } catch {
                throw ProxyRefusal(
                    error == .tooLarge
                        ? "answered CONNECT with a head of more than \(ConnectConversation.maximumHeadBytes) bytes"
                        : "answered CONNECT with something that is not HTTP/1"
                )
            }
            headBytes += offset - start
            guard let answer else { return .waiting }
            guard let status = answer.status else {
                throw ProxyRefusal("answered CONNECT with something that is not HTTP/1")
            }
            switch status {
            case 100...199:
                head = ConnectConversation.reader(limit: ConnectConversation.maximumHeadBytes - headBytes)
            case 200...299: return .established
            default: throw refusal(status, answer)
            }
        }
    }

    private static func reader(limit: Int) -> HTTPHeadReader {
        HTTPHeadReader(limit: limit, prefix: "HTTP/1.")
    }

    private func refusal(_ status: Int, _ answer: HTTPHead) -> ProxyRefusal {
        let hint =
            switch (status, isAuthorized) {
            case (407, false): "; it wants a user name and a password (http://user:password@host:port)"
            case (407, true):
                "; it does not accept the user name and the password, or wants another way than Basic"
            default: ""
            }
        var refusal = ProxyRefusal("answered CONNECT with HTTP status \(status)\(hint)")
        refusal.status = status
        refusal.retryAfter = answer.retryAfter
        return refusal
    }
}
