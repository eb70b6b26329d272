import BridgeCore
import WebSocketProtocol

/// A request as it came, written shortly: `request("POST /messages", "Origin: http://a")`.
func request(
    _ line: String = "GET /status",
    _ fields: String...,
    host: String? = "127.0.0.1:8080",
    version: HTTPVersion = .http11,
    client: ClientAddress = .ip("127.0.0.1")
) -> RequestHead {
    request(line, fields: fields, host: host, version: version, client: client)
}

func request(
    _ line: String,
    fields: [String],
    host: String? = "127.0.0.1:8080",
    version: HTTPVersion = .http11,
    client: ClientAddress = .ip("127.0.0.1")
) -> RequestHead {
    let words = line.split(separator: " ", maxSplits: 1)
    let all = (host.map { ["Host: \($0)"] } ?? []) + fields
    return RequestHead(
        method: String(words[0]),
        target: Array(words[1].utf8),
        version: version,
        fields: all.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPField(String(parts[0]), String(parts[1].drop { $0 == " " }))
        },
        client: client
    )
}

/// A gate with few settings.
func gate(
    files: PublicFiles = PublicFiles(),
    _ change: (inout HTTPSettings) -> Void = { _ in },
    ownNames: [String] = []
) -> RequestGate {
    var settings = HTTPSettings()
    change(&settings)
    return RequestGate(settings, ownNames: ownNames, files: files)
}

extension Admission {
    /// What was decided, in a few words: `serve`, a status, or a status and a problem's slug.
    var summary: String {
        switch self {
        case .serve: "serve"
        case .answer(let response):
            [String(response.status), response.slug].compactMap(\.self).joined(separator: " ")
        }
    }

    var route: Route? {
        switch self {
        case .serve(let admitted): admitted.route
        case .answer: nil
        }
    }

    var response: HTTPResponse? {
        switch self {
        case .serve: nil
        case .answer(let response): response
        }
    }

    /// The header fields that whatever is answered will carry.
    var fields: [HTTPField] {
        switch self {
        case .serve(let admitted): admitted.fields
        case .answer(let response): response.fields
        }
    }

    func field(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The last part of a problem's type.
    var slug: String? {
        let marker = "\"urn:wsbridge:problem:"
        guard let start = text.range(of: marker)?.upperBound else { return nil }
        return String(text[start...].prefix { $0 != "\"" })
    }
}

extension String {
    /// Where `part` stands first.
    fileprivate func range(of part: String) -> Range<Index>? {
        indices.lazy.filter { self[$0...].hasPrefix(part) }.first.map { start in
            start..<index(start, offsetBy: part.count)
        }
    }
}

/// The problem that `body` throws.
func problem<Success>(_ body: () throws(Problem) -> Success) -> Problem? {
    do throws(Problem) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
