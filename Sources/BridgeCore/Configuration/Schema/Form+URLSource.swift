import WebSocketProtocol

/// A mapping in place of a URL, while it is read: who is to be asked.
struct URLProviderDraft: Sendable {
    var http: HTTPURLProvider?
    var command: [String]?
    var timeout = Duration.seconds(10)

    static let fields: [Field<URLProviderDraft>] = [
        Field("http", \.http, .optional(.httpProvider), keys: HTTPProviderDraft.fields.schema()),
        Field("command", \.command, .optional(.command)),
        // The longest that a user would wait for, and that a program that hangs could hold on to its memory.
        Field("timeout", \.timeout, .duration(.milliseconds(10) ... .seconds(3600))),
    ]
}

/// A request for a URL while it is read.
struct HTTPProviderDraft: Sendable {
    var url: WebSocketURL?
    var method: String?
    var headers: [HTTPField] = []
    var body: String?
    var pointer: JSONPointer?

    static let fields: [Field<HTTPProviderDraft>] = [
        Field("url", \.url, .required(.providerURL)),
        Field("method", \.method, .optional(.method)),
        Field("headers", \.headers, .headers),
        Field("body", \.body, .optional(.body)),
        Field("pointer", \.pointer, .optional(.pointer)),
    ]
}

extension Form<URLSource> {
    private static let urls = Form<[WebSocketURL]>.list(.upstreamURL).checked { urls in
        urls.isEmpty ? "the list is empty; name at least one URL" : nil
    }

    private static let provider: Form<URLSource> = Form<URLProviderDraft>.provider.finished(
        { draft -> URLSource? in
            switch (draft.http, draft.command) {
            case (let provider?, nil): .asked(.http(provider), timeout: draft.timeout)
            case (nil, let command?): .asked(.command(command), timeout: draft.timeout)
            case (nil, nil), (_?, _?): nil
            }
        },
        back: { source -> URLProviderDraft in
            var draft = URLProviderDraft()
            guard case .asked(let provider, let timeout) = source else { return draft }
            draft.timeout = timeout
            switch provider {
            case .http(let provider): draft.http = provider
            case .command(let command): draft.command = command
            }
            return draft
        }
    )

    /// A URL, a list of them, or who is asked for one.
    static let urlSource = Form<URLSource>(
        read: { node, reader in
            switch node.content {
            case .scalar: Form<WebSocketURL>.upstreamURL.read(node, &reader).map { .listed([$0]) }
            case .sequence: urls.read(node, &reader).map { .listed($0) }
            case .mapping:
                reader.mayName("what is to give the URL", at: node) ? provider.read(node, &reader) : nil
            case .unknown: nil
            }
        },
        write: { source in
            switch source {
            case .listed(let listed):
                listed.count == 1 ? Form<WebSocketURL>.upstreamURL.write(listed[0]) : urls.write(listed)
            case .asked: provider.write(source)
            }
        }
    )
}

extension Form<URLProviderDraft> {
    private static let members = URLProviderDraft.fields.form(startingFrom: URLProviderDraft(), needed: [])

    fileprivate static let provider = Form<URLProviderDraft>(
        read: { node, reader in
            guard let draft = members.read(node, &reader) else { return nil }
            guard !reader.isBrokenAsWhole, case .mapping(let given) = node.content else { return draft }
            // Whatever is wrong with them is told already.
            let asked = given.filter { ["http", "command"].contains($0.key) && !reader.isNull($0.value) }
            if Set(asked.map(\.key)).count != 1 {
                reader.complain(node, "needs either http or command, to ask for a URL")
            }
            return draft
        },
        write: members.write
    )
}

extension Form<HTTPURLProvider> {
    static let httpProvider: Form<HTTPURLProvider> = HTTPProviderDraft.fields.form(
        startingFrom: HTTPProviderDraft(),
        needed: ["url"]
    ).finished(
        { draft -> HTTPURLProvider? in
            guard let url = draft.url else { return nil }
            var provider = HTTPURLProvider(url: url)
            provider.method = draft.method
            provider.headers = draft.headers
            provider.body = draft.body
            provider.pointer = draft.pointer
            return provider
        },
        back: { provider in
            HTTPProviderDraft(
                url: provider.url,
                method: provider.method,
                headers: provider.headers,
                body: provider.body,
                pointer: provider.pointer
            )
        }
    )
}

extension Form<WebSocketURL> {
    private static let httpExpectation = "a URL that starts with http:// or https://"

    /// The URL of an HTTP server.
    fileprivate static let providerURL = scalar(
        httpExpectation,
        isSecret: true,
        isPartlyShown: true,
        parse: { text throws(MalformedValue) in
            guard text.lowercasedASCII.hasPrefix("http") else { throw MalformedValue(httpExpectation) }
            do throws(WebSocketURLError) {
                return try WebSocketURL(text)
            } catch {
                throw MalformedValue("\(httpExpectation), but this one \(error)")
            }
        },
        write: { url in .quoted("http" + url.masked.dropFirst(2)) }
    )
}

extension Form<String> {
    fileprivate static let method = scalar(
        "an HTTP method such as GET or POST",
        parse: { text throws(MalformedValue) in
            let isMethod = text.isToken && text.utf8.count <= 32
            guard isMethod, !["CONNECT", "HEAD", "TRACE"].contains(text.uppercased()) else {
                throw MalformedValue("an HTTP method such as GET or POST, whose answer has a body")
            }
            return text
        },
        write: { .quoted($0) }
    )

    fileprivate static let body = scalar(
        "a text to send",
        isSecret: true,
        parse: { text throws(MalformedValue) in text },
        write: { _ in .quoted(secretMask) }
    )
}

extension Form<JSONPointer> {
    static let pointer = scalar(
        "a JSON pointer such as /url, or /servers/0/url",
        parse: { text throws(MalformedValue) in
            guard let pointer = JSONPointer(text) else {
                throw MalformedValue("a JSON pointer such as /url, or /servers/0/url")
            }
            return pointer
        },
        write: { .quoted($0.text) }
    )
}

extension Form<[String]> {
    private static let argument = Form<String>.scalar(
        "a text",
        isSecret: true,
        parse: { text throws(MalformedValue) in
            guard !text.utf8.contains(0) else { throw MalformedValue("a text without NUL") }
            return text
        },
        write: { _ in .quoted(secretMask) }
    )

    private static let words = list(argument).checked { words in
        words.first?.isEmpty == false ? nil : "needs the name of a program, then its arguments"
    }

    /// A program, whose path counts from the file's folder if it has a slash, and its arguments, which may hold secrets.
    fileprivate static let command = Form(
        read: { node, reader in
            guard var command = words.read(node, &reader), let program = command.first else { return nil }
            // The program is shown, and its arguments are not.
            if case .sequence(let words) = node.content, let first = words.first,
                reader.isParameterized(first)
            {
                reader.complainOfShownParameter(at: first)
                return nil
            }
            if program.contains("/") { command[0] = reader.resolved(program) }
            return command
        },
        write: { command in
            .sequence(command.prefix(1).map { .quoted($0) } + command.dropFirst().map { argument.write($0) })
        }
    )
}
