internal import WebSocketProtocol

/// A file that everyone may fetch: part of the bridge's page.
package struct PublicFile: Equatable, Sendable {
    package let content: [UInt8]
    /// A strong validator (RFC 9110 §8.8.3), quotes included.
    let entityTag: String
    private let mediaType: String

    /// `name` tells the media type by its extension.
    package init(name: String, content: [UInt8]) {
        self.content = content
        entityTag = PublicFile.entityTag(of: content)
        mediaType = PublicFile.mediaType(of: name)
    }

    /// The file, or 304 where the client has this very one already (RFC 9110 §13.1.2).
    package func response(to head: RequestHead) -> HTTPResponse {
        let fields = [HTTPField("Content-Type", mediaType), HTTPField("ETag", entityTag)]
        var response = HTTPResponse(
            status: isHeld(by: head) ? 304 : 200,
            exactly: fields + PublicFile.protection
        )
        // 304 goes out without it, but with its length (RFC 9110 §8.6).
        response.body = content
        return response
    }

    private func isHeld(by head: RequestHead) -> Bool {
        head.values(of: "if-none-match").contains { list in
            list.split(separator: ",").contains { entry in
                let tag = entry.filter { $0 != " " && $0 != "\t" }
                return tag == "*" || tag == entityTag || tag == "W/" + entityTag
            }
        }
    }

    /// Nothing is loaded from elsewhere, nothing is sent elsewhere, and nobody frames the page.
    ///
    /// Browsers keep files but ask each time, so that a new version of the bridge shows at once.
    private static let protection = [
        HTTPField("X-Content-Type-Options", "nosniff"),
        HTTPField("Cache-Control", "no-cache"),
        HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; connect-src 'self'; "
                + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ]

    /// FNV-1a with 64 bits, and the length: whoever runs the bridge wrote the files, nobody forges them.
    private static func entityTag(of content: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\"\(String(hash, radix: 16))-\(String(content.count, radix: 16))\""
    }

    private static func mediaType(of name: String) -> String {
        let start = name.lastIndex(of: ".").map(name.index(after:)) ?? name.endIndex
        return mediaTypes[name[start...].lowercased()] ?? "application/octet-stream"
    }

    private static let mediaTypes = [
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "txt": "text/plain; charset=utf-8",
        "json": "application/json",
        "yaml": "application/yaml",
        "map": "application/json",
        "webmanifest": "application/manifest+json",
        "svg": "image/svg+xml",
        "png": "image/png",
        "jpg": "image/jpeg",
        "jpeg": "image/jpeg",
        "gif": "image/gif",
        "webp": "image/webp",
        "avif": "image/avif",
        "ico": "image/vnd.microsoft.icon",
        "woff2": "font/woff2",
        "wasm": "application/wasm",
    ]
}
