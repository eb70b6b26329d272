@testable import BridgeCore

/// What takes lent bytes, for arrays: `#expect` cannot hold on to what is lent.
extension JSONSearch {
    func values(in bytes: [UInt8]) -> [Range<Int>?]? { values(in: bytes.span) }

    static func isJSON(_ bytes: [UInt8]) -> Bool { isJSON(bytes.span) }
}

extension RegularExpression {
    func matches(_ bytes: [UInt8]) -> Bool { matches(bytes.span) }
}

extension PatternProgram {
    func matches(_ bytes: [UInt8]) -> Bool { matches(bytes.span) }
}

extension Needle {
    func isFound(in bytes: [UInt8]) -> Bool { isFound(in: bytes.span) }
}
