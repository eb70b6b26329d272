/// What a socket, or the question for its URL, tells besides its events: of use to who reads the log, and to nobody else.
package enum SocketRemark: Equatable, Sendable {
    /// The upstream refused the handshake, and said this; it is the upstream's text, without our secrets.
    case refusalText(String)
    /// Files of TLS have changed and cannot be used; what they held before still is.
    case staleTLSFiles(error: String)
    /// Something came of the question for the URL: a sentence without secrets.
    case question(String)
    /// The server that is asked for the URL gave none, and said this; it is its text, without our secrets.
    case providerText(String)
    /// What was to be done about messages is not, or not all of it: a sentence without a word of them.
    case shortcoming(String)
    /// The connection is not dialled again until a user connects it: why, as a sentence without secrets.
    case final(String)
}
