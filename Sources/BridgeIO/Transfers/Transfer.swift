internal import BridgeCore
internal import CCURL
internal import Glibc
internal import WebSocketProtocol

/// One HTTP request and its answer; letting go of it ends it.
///
/// Redirects are not followed, TLS is verified by the authorities of the system, and nothing else of the
/// environment counts.
@safe final class Transfer {
    /// What to ask whom.
    struct Order {
        var provider: HTTPURLProvider
        var proxy: ProxyURL?
        /// A longer body, or a longer head, is a failure.
        var maximumBytes: Int

        init(_ provider: HTTPURLProvider, proxy: ProxyURL?, maximumBytes: Int) {
            self.provider = provider
            self.proxy = proxy
            self.maximumBytes = maximumBytes
        }
    }

    struct Reply {
        var status: Int
        var body: [UInt8]
        /// When the server wants to be asked again.
        var retryAfter: RetryAfterField?
    }

    struct Failure: Error {
        /// One sentence, without a word of what was sent.
        let error: String
    }

    typealias Outcome = Result<Reply, Failure>

    let easy: UnsafeMutableRawPointer
    private let transfers: Transfers
    private let completion: (Outcome) -> Void
    private let maximumBytes: Int
    private var body: [UInt8] = []
    private var headBytes = 0
    private var isTooLong = false
    /// Lives as long as the handle, which keeps no copy.
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let reason: UnsafeMutablePointer<CChar>

    /// libcurl must have been loaded.
    init(_ order: Order, on transfers: Transfers, completion: @escaping (Outcome) -> Void) {
        guard let easy = unsafe wsbridge_easy_make() else { preconditionFailure("libcurl is out of memory") }
        unsafe self.easy = unsafe easy
        self.transfers = transfers
        self.completion = completion
        maximumBytes = order.maximumBytes
        unsafe reason = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe reason.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        unsafe wsbridge_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, reason)
        // Unretained: the handle is gone before this object is.
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe wsbridge_easy_on_head(easy, headCame, owner)
        unsafe wsbridge_easy_on_body(easy, bodyCame, owner)
        beModest()
        describe(order.provider)
        goThrough(order.proxy)
        trustSystem()
    }

    isolated deinit {
        unsafe transfers.end(easy)
        unsafe wsbridge_easy_free(easy)
        unsafe wsbridge_list_free(headers)
        unsafe reason.deallocate()
    }

    /// libcurl is done with it.
    func ended(_ code: CURLcode) {
        guard code == CURLE_OK else {
            return completion(.failure(Failure(error: text(of: code))))
        }
        let wait = field("Retry-After").map { RetryAfterField($0, date: field("Date")) }
        completion(
            .success(Reply(status: unsafe wsbridge_easy_status(easy), body: body, retryAfter: wait))
        )
    }

    /// Nil unless it is there just once.
    private func field(_ name: String) -> String? {
        guard let value = unsafe wsbridge_easy_field(easy, name) else { return nil }
        return unsafe String(cString: value)
    }

    private func text(of code: CURLcode) -> String {
        if isTooLong { return "its answer is longer than \(maximumBytes) bytes" }
        let detail = unsafe String(cString: reason)
        return detail.isEmpty ? unsafe String(cString: wsbridge_easy_text(code)) : detail
    }

    /// A line of a head; heads of interim answers and of proxies count as well.
    fileprivate func takeHead(_ piece: UnsafeRawBufferPointer) -> Int {
        guard piece.count <= maximumBytes - headBytes else {
            isTooLong = true
            return 0
        }
        headBytes += piece.count
        return piece.count
    }

    /// Takes what came; returns how much of it was wanted.
    fileprivate func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
        guard piece.count <= maximumBytes - body.count else {
            isTooLong = true
            return 0
        }
        unsafe body.append(contentsOf: piece)
        return piece.count
    }

    // MARK: Settings

    private func set(_ option: CURLoption, _ value: Int) {
        unsafe wsbridge_easy_set_long(easy, option, value)
    }

    private func set(_ option: CURLoption, _ text: String) {
        unsafe wsbridge_easy_set_text(easy, option, text)
    }

    private func beModest() {
        // Signals are the process's own affair; a name that is still looked up must not hold up the loop.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        // One question for each connection gains nothing from HTTP/2.
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_FRESH_CONNECT, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        set(CURLOPT_USERAGENT, "wsbridge")
    }

    private func describe(_ provider: HTTPURLProvider) {
        set(CURLOPT_URL, provider.httpURL)
        if let credentials = provider.url.credentials {
            set(CURLOPT_USERNAME, credentials.user)
            set(CURLOPT_PASSWORD, credentials.password)
        }
        let method = provider.effectiveMethod
        if provider.body != nil || method != "GET" && method != "DELETE" {
            let bytes = provider.body ?? ""
            unsafe wsbridge_easy_set_body(easy, bytes, curl_off_t(bytes.utf8.count))
        }
        set(CURLOPT_CUSTOMREQUEST, method)
        // Waiting for leave to send the body, and a type that nobody stated, help nobody.
        var lines = ["Expect:"]
        if provider.body == nil { lines.append("Content-Type:") }
        for field in provider.headers {
            // With a colon an empty value would take the field out.
            lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        for line in lines { unsafe headers = wsbridge_list_append(headers, line) }
        unsafe wsbridge_easy_set_headers(easy, headers)
    }

    private func goThrough(_ proxy: ProxyURL?) {
        // None, rather than libcurl's own reading of the environment; and no exceptions from one that is used.
        set(CURLOPT_PROXY, proxy?.redacted ?? "")
        set(CURLOPT_NOPROXY, "")
        if let credentials = proxy?.credentials {
            set(CURLOPT_PROXYUSERNAME, credentials.user)
            set(CURLOPT_PROXYPASSWORD, credentials.password)
        }
    }

    /// Those that OpenSSL trusts, environment included, as for upstreams.
    private func trustSystem() {
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        let options = [
            ("SSL_CERT_FILE", CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO),
            ("SSL_CERT_DIR", CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH),
        ]
        for (variable, option, proxyOption) in options {
            guard let path = unsafe getenv(variable), unsafe path.pointee != 0 else { continue }
            set(option, unsafe String(cString: path))
            set(proxyOption, unsafe String(cString: path))
        }
    }
}

private nonisolated func headCame(
    _ bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    owner: UnsafeMutableRawPointer?
) -> Int {
    unsafe lend(bytes, size * count, to: owner) { unsafe $0.takeHead($1) }
}

private nonisolated func bodyCame(
    _ bytes: UnsafeMutablePointer<CChar>?,
    size: Int,
    count: Int,
    owner: UnsafeMutableRawPointer?
) -> Int {
    unsafe lend(bytes, size * count, to: owner) { unsafe $0.takeBody($1) }
}

/// Lends a piece of an answer to its transfer, which libcurl has as the `owner` of the callback.
private nonisolated func lend(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ count: Int,
    to owner: UnsafeMutableRawPointer?,
    _ take: @escaping @MainActor (Transfer, UnsafeRawBufferPointer) -> Int
) -> Int {
    guard let owner = unsafe owner else { return 0 }
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
    return unsafe onLoop(with: UnsafeRawBufferPointer(start: bytes, count: count)) {
        unsafe take(transfer, $0)
    }
}
