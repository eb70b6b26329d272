/// The status codes of close frames (RFC 6455 §7.4 and the IANA registry).
package enum CloseCode {
    package static let normal: UInt16 = 1000
    package static let goingAway: UInt16 = 1001
    package static let protocolError: UInt16 = 1002
    /// Stands for a close frame without a code; never on the wire.
    package static let absent: UInt16 = 1005
    /// Stands for the lack of a close frame; never on the wire.
    package static let abnormal: UInt16 = 1006
    package static let invalidData: UInt16 = 1007
    package static let tooBig: UInt16 = 1009

    /// The longest reason in bytes: a control frame's 125 less the code.
    package static let maximumReasonBytes = 123

    /// Whether a close frame may carry `code`, sent or received.
    ///
    /// 1004–1006 and 1015 are reserved for use without a frame, the rest below 3000 is not assigned, and
    /// above 4999 nothing is defined.
    package static func mayBeOnTheWire(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The payload of a close frame: empty without a code or with one that must not be sent.
    ///
    /// The reason is cut to 123 bytes at a character's end, so that it stays UTF-8.
    package static func payload(code: UInt16?, reason: String) -> [UInt8] {
        guard let code, mayBeOnTheWire(code) else { return [] }
        var bytes = [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)]
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            guard bytes.count + encoded.count <= 2 + maximumReasonBytes else { break }
            bytes.append(contentsOf: encoded)
        }
        return bytes
    }
}
