import FoundationEssentials
import WebSocketProtocol

/// The optional body of `POST .../disconnect`: how the upstream is to be told (RFC 6455 §7.4).
package struct DisconnectRequest: Equatable, Sendable {
    package var code = CloseCode.normal
    package var reason = ""

    package init() {}

    /// Reads a body; an empty one means 1000 without a reason.
    ///
    /// Throws `invalid-body` (400) for other JSON than `{"code":1000,"reason":""}`, codes that an endpoint may not
    /// send, and reasons that do not fit into a control frame.
    package init(body: [UInt8]) throws(Problem) {
        guard !body.isEmpty else { return }
        let members: Members
        do {
            members = try JSONDecoder().decode(Members.self, from: Data(body))
        } catch {
            throw DisconnectRequest.refusal("the body must be empty or {\"code\":1000,\"reason\":\"\"}")
        }
        guard let code = UInt16(exactly: members.code ?? Int(CloseCode.normal)),
            CloseCode.mayBeOnTheWire(code)
        else {
            throw DisconnectRequest.refusal("a code must be one of 1000-1003, 1007-1014, 3000-4999")
        }
        self.code = code
        reason = members.reason ?? ""
        guard reason.utf8.count <= CloseCode.maximumReasonBytes else {
            throw DisconnectRequest.refusal("a reason may have at most 123 bytes of UTF-8")
        }
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.invalidBody, detail)
    }
}

/// The members of the object, of which there may be no others.
private struct Members: Decodable {
    enum Key: String, CodingKey, CaseIterable {
        case code
        case reason
    }

    /// Any key at all, to see those that are not known.
    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    let code: Int?
    let reason: String?

    init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys
        where Key(stringValue: key.stringValue) == nil {
            throw DecodingError.dataCorrupted(.init(codingPath: [key], debugDescription: "unknown member"))
        }
        let container = try decoder.container(keyedBy: Key.self)
        code = try container.decodeIfPresent(Int.self, forKey: .code)
        reason = try container.decodeIfPresent(String.self, forKey: .reason)
    }
}
