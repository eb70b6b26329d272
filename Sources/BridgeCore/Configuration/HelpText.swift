/// What `wsbridge help` prints; every text ends with a line feed.
enum HelpText {
    static let overview = """
        wsbridge keeps connections to WebSocket servers alive and lets plain HTTP use them.

        Usage: wsbridge COMMAND [FLAGS]

          serve            run the bridge
          check            check the configuration and print it
          demo             run the bridge with an upstream of its own that echoes and ticks
          health           say by the exit code whether the bridge is alive
          send             send a message, or each line of the input
          tail             follow what arrives, over every interruption
          version          print the version
          help [COMMAND]   explain a command

        Start with: wsbridge demo
        """ + "\n"

    static let serve = """
        Usage: wsbridge serve --upstream URL [FLAGS]
               wsbridge serve --config FILE [FLAGS]

        Connects to the WebSocket server at URL (ws:// or wss://), or to those that the file names, and serves
        them over HTTP until SIGTERM or SIGINT.

        \(flags(upstream: true))
        \(environment)
        """ + "\n"

    static let check = """
        Usage: wsbridge check [--config FILE] [--explain] [FLAGS]
               wsbridge check --preset NAME [--explain]

        Takes what `wsbridge serve` takes, says what is wrong with it, and exits as that would. If nothing is, it
        prints the configuration that results, as YAML, with its secrets masked.

          --explain      tells in words instead what each connection will send, and when
          --preset NAME  looks at a preset alone, and prints it over the defaults, with parameters as their names;
                         NAME is that of a file in presets/, beside FILE or built in, or a path
        """ + "\n"

    static let demo = """
        Usage: wsbridge demo [FLAGS]

        Starts a WebSocket server that echoes what it gets and ticks once a second, and a bridge attached to it.

        \(flags(upstream: false))
        \(environment)
        """ + "\n"

    static let version = """
        Usage: wsbridge version

        Prints the version.
        """ + "\n"

    private static func flags(upstream: Bool) -> String {
        let first =
            "  --config FILE        the configuration, in YAML   (WSBRIDGE_CONFIG)\n"
            + "  --upstream URL       the server to connect to   (WSBRIDGE_UPSTREAM)\n"
        return """
            Flags (each beats the variable beside it, and both beat the file):
            \(upstream ? first : "")\
              --listen ADDR        host:port, [v6]:port, :port for all interfaces, port 0 for any free one,
                                   or unix:PATH; default 127.0.0.1:8080   (WSBRIDGE_LISTEN)
              --data-dir DIR       where outbox, history and ids are kept over restarts; without it they are
                                   in memory   (WSBRIDGE_DATA_DIR)
              --public DIR         the folder of the page at /, with an index.html; default public, here or in
                                   ../share/wsbridge beside the program, else a built-in copy   (WSBRIDGE_PUBLIC)
              --log-level LEVEL    debug, info, warning or error; default info   (WSBRIDGE_LOG_LEVEL)
              --log-format FORMAT  text or json; default text   (WSBRIDGE_LOG_FORMAT)

            """
    }

    private static let environment = """
        Environment besides:
          WSBRIDGE_TOKEN            a bearer token that HTTP clients must present; it may do everything
          WSBRIDGE_ALLOW_ANONYMOUS  true: no token is needed, even on addresses that other machines reach
          WSBRIDGE_ALLOWED_HOSTS    further names in Host, comma-separated, or *
          WSBRIDGE_ALLOWED_ORIGINS  web origins whose pages may use the bridge, comma-separated, or *
          HTTPS_PROXY, HTTP_PROXY   proxies for wss and ws upstreams, unless NO_PROXY names the host
        """
}
