/// The section `http`: how the bridge is reached and by whom.
package struct HTTPSettings: Equatable, Sendable {
    package var listen = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
    /// Of the file of a unix socket.
    package var socketMode = SocketMode.owner
    package var publicDirectory = PublicDirectory()
    /// None: everyone may do everything.
    package var tokens: [AccessToken] = []
    /// Lets the bridge stand open on other addresses than loopback ones without tokens.
    package var allowAnonymous = false
    /// Origins of pages that may use the bridge, as browsers write them, or `*`.
    package var allowedOrigins: [String] = []
    /// Further names the bridge is reached by, or `*`.
    package var allowedHosts: [String] = []
    /// Nil: clients speak plain HTTP.
    package var tls: ServerTLSSettings?
    /// Of a request's body.
    package var maxBodyBytes = 1 << 20
    package var maxSubscribers = 10_000
    /// Different combinations of format and filters that event streams may have at a time.
    package var maxFilters = 256
    /// Open at a time from one address; 0: no limit.
    package var maxConnectionsPerClient = 0
    /// The longest silence on an event stream.
    package var keepAlive = Duration.seconds(15)
    /// What event streams tell clients to wait before they come back.
    package var retry = Duration.seconds(2)
    /// For a request's head and body to arrive.
    package var requestTimeout = Duration.seconds(30)
    /// From the signal to the exit.
    package var shutdownTimeout = Duration.seconds(8)
    /// For which a browser that has shown a token need not show it again.
    package var sessionLifetime = Duration.seconds(7 * 86_400)
    /// Lets clients make connections, change and remove them.
    package var dynamicConnections = false

    package init() {}

    /// Other machines reach the bridge, it asks for no token, and nobody said that this is meant.
    var isOpenUnasked: Bool { !listen.isLocal && !allowAnonymous && tokens.isEmpty }
}
