extension HelpText {
    static let health = """
        Usage: wsbridge health [--config FILE] [--listen ADDR]

        Exits with 0 if the bridge is alive (GET /healthz answers 200), and with 1, saying why, if it is not or does
        not answer within 2 seconds.

        \(place)
        """ + "\n"

    static let send = """
        Usage: wsbridge send [--connection NAME] [--wait TIME] [FLAGS] [TEXT | -]

        Sends TEXT as one message. Without TEXT, or with -, it sends each line of the input, as it comes and in
        order, empty ones left out, and stops at the first one that is refused.

          --connection NAME  which connection; not needed if there is one only, or one named default
          --wait TIME        waits, at most so long (5s, 1m), until the message is written upstream; if it is
                             not by then, it stays queued

        \(place)
        \(token)

        A TEXT that begins with - follows after --.

        Exit codes: 0 all was sent or is queued; 1 the bridge refused a message; 64 wrong usage; 69 no bridge
        answers.
        """ + "\n"

    static let tail = """
        Usage: wsbridge tail [--connection NAME] [--since WHEN] [--format FORMAT] [--types LIST] [FLAGS]

        Prints what arrives, until it is interrupted or its reader ends. When the stream breaks off, or the bridge
        restarts, it comes back and goes on where it was: nothing is missing and nothing comes twice. What the
        bridge itself has lost is told on stderr.

          --connection NAME  which connection; not needed if there is one only, or one named default
          --since WHEN       start (all that is kept), now (default), an event's id, a duration such as 10m, or a
                             time such as 2026-11-30T08:00:00Z
          --format FORMAT    raw (default): payloads as they are, a line feed after each, binary ones in base64;
                             sse: server-sent events; json: the same with JSON records as data;
                             ndjson: a JSON record a line. All but raw show a gap where it was, too
          --types LIST       some of text, binary and status, joined by commas; default text,binary. raw shows
                             no status

        \(place)
        \(token)

        Exit codes: 0 interrupted, or nobody reads any more; 1 the bridge refused; 64 wrong usage; 69 no bridge
        answers at the start.
        """ + "\n"

    private static let place = """
        The bridge is looked for where `wsbridge serve` would listen; a wildcard address means this machine.
          --config FILE      the bridge's configuration   (WSBRIDGE_CONFIG)
          --listen ADDR      host:port, [v6]:port, :port or unix:PATH; default 127.0.0.1:8080   (WSBRIDGE_LISTEN)
        """

    private static let token = """
        Environment besides:
          WSBRIDGE_TOKEN     the bearer token to present
        """
}
