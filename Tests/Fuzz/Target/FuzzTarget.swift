// Built only with WSBRIDGE_FUZZ=1 and run by `make fuzz`.
import BridgeCore
import BridgeIO
import CLibFuzzer
import WebSocketProtocol
import WebSocketTestSupport

@main struct FuzzTarget {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        _ = unsafe LLVMFuzzerRunDriver(&count, &arguments, fuzzOneInput)
    }
}

/// Takes one input after another; a trap is a finding.
///
/// The first byte chooses what is fuzzed, the second how it is set up. libFuzzer knows it by this name.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    guard input.count >= 2 else { return 0 }
    let rest = Array(input[2...])
    switch input[0] & 15 {
    case 0, 1, 4: fuzzFrames(rest, setup: input[1])
    case 2: fuzzHandshakes(rest, piece: Int(input[1]) + 1)
    case 3: fuzzURL(rest)
    case 5: fuzzStreams(rest, setup: input[1])
    case 7: fuzzScripts(rest, setup: input[1])
    case 9, 10: fuzzConfiguration(rest, setup: input[1])
    case 11, 12: fuzzRequest(rest, setup: input[1])
    default: fuzzNetlink(rest, setup: input[1])
    }
    return 0
}

/// Frames, plain and compressed: cut into pieces or not, the same must come out.
private func fuzzFrames(_ bytes: [UInt8], setup: UInt8) {
    let role: Role = setup & 1 == 0 ? .client : .server
    let limit = setup & 2 == 0 ? 100 : 100_000
    var parameters: DeflateParameters?
    if setup & 4 != 0 {
        parameters = DeflateParameters()
        parameters?.serverMaxWindowBits = setup & 8 == 0 ? 15 : 8
        parameters?.serverNoContextTakeover = setup & 16 != 0
    }
    func decoded(pieces: Int) -> Decoded {
        decode(bytes, pieces: pieces, role: role, limit: limit, inflater: parameters?.inflater(for: role))
    }
    let whole = decoded(pieces: max(1, bytes.count))
    let split = decoded(pieces: Int(setup >> 5) + 1)
    precondition(whole.events == split.events, "cutting changes the events")
    precondition((whole.failure == nil) == (split.failure == nil), "cutting changes the verdict")
    for event in whole.events {
        guard case .message(let message) = event else { continue }
        precondition(message.bytes.count <= limit, "a message is over the limit")
        let isText = message.kind == .binary || String(validating: message.bytes, as: UTF8.self) != nil
        precondition(isText, "a text is not UTF-8")
    }
}

/// Both sides' opening handshakes, in pieces.
private func fuzzHandshakes(_ bytes: [UInt8], piece: Int) {
    guard let url = try? WebSocketURL("ws://h/") else { return }
    var terms = ClientHandshake.Terms(url: url)
    terms.subprotocols = ["a", "b"]
    terms.compression = DeflateOffer()
    guard var client = try? ClientHandshake(terms, key: "k", accept: "a") else { return }
    var server = ServerHandshake()
    for start in stride(from: 0, to: bytes.count, by: piece) {
        let part = bytes.span.extracting(start..<min(start + piece, bytes.count))
        var (clientOffset, serverOffset) = (0, 0)
        _ = try? client.read(part, from: &clientOffset)
        if let request = try? server.read(part, from: &serverOffset) {
            _ = ServerHandshake.response(accept: request.key, compression: request.compression?.accepted)
        }
    }
}

/// What is accepted as a URL must go into one request line and show no secrets.
private func fuzzURL(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let url = try? WebSocketURL(text) else { return }
    precondition(!url.target.utf8.contains { $0 <= 0x20 }, "the target breaks the request line")
    precondition(!url.hostField.utf8.contains { $0 <= 0x20 }, "the host breaks its field")
    precondition(!url.redacted.contains("?"), "the query shows")
    precondition((try? WebSocketURL(url.redacted)) != nil, "the redacted URL is none")
}

/// The kernel's messages, which it would not send so: raw, or each piece of some length as one whose header is right.
private func fuzzNetlink(_ bytes: [UInt8], setup: UInt8) {
    let datagram = setup & 1 == 0 ? bytes : framed(bytes, piece: Int(setup >> 1) + 1)
    var reader = NetlinkReader(datagram)
    var map = NetworkMap()
    var count = 0
    while let (_, message) = reader.next() {
        map.add(message)
        count += 1
    }
    precondition(count <= datagram.count / 16, "a message has no header")
    precondition(!map.gains(over: map), "a network gains over itself")
}

/// Netlink messages (`nlmsghdr`), whose type the first byte of each piece chooses.
private func framed(_ bytes: [UInt8], piece: Int) -> [UInt8] {
    let types: [UInt8] = [16, 17, 20, 21, 24, 25, 2, 3]
    var datagram: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
        let body = bytes[start..<min(start + piece, bytes.count)]
        let length = 16 + body.count - 1
        datagram += [UInt8(length & 255), UInt8(length >> 8), 0, 0, types[Int(body[start] & 7)], 0, 0, 0]
        datagram += [UInt8](repeating: 0, count: 8) + body.dropFirst()
        // Messages are aligned to four bytes.
        datagram += [UInt8](repeating: 0, count: (4 - length % 4) % 4)
    }
    return datagram
}
