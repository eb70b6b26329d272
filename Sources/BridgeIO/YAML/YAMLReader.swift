package import BridgeCore
internal import CYAML

/// Reads YAML 1.1, and with it JSON, into a tree.
package nonisolated enum YAMLReader {
    /// The tree of the one document that the bytes hold, an empty mapping if they hold none, with what is wrong.
    ///
    /// - Throws: what is wrong up to the first thing that makes the text no YAML.
    package static func read(_ bytes: [UInt8]) throws(ConfigurationFaults) -> ConfigurationTree {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw ConfigurationFaults([notUTF8(bytes)])
        }
        return try unsafe SurrogatePairs.joined(in: bytes).withUnsafeBufferPointer { buffer in
            Result { () throws(ConfigurationFaults) in try unsafe read(buffer, of: bytes) }
        }.get()
    }

    private static func read(
        _ buffer: UnsafeBufferPointer<UInt8>,
        of bytes: [UInt8]
    ) throws(ConfigurationFaults) -> ConfigurationTree {
        var builder = ConfigurationTreeBuilder()
        do throws(ConfigurationFault) {
            let parser = try unsafe YAMLParser(buffer)
            let lastLine = lines(of: bytes).count
            while let finding = try parser.next() {
                var position = finding.position
                // What is empty at the end stands, for libyaml, on a line after the last one.
                position.line = min(position.line, lastLine)
                if finding.isTagged {
                    builder.complain("tags such as !name have no meaning here", at: position)
                }
                try builder.handle(finding.event, at: position)
            }
        } catch {
            return try builder.finish(after: explained(error, bytes))
        }
        return builder.finish()
    }

    /// libyaml places what is missing at the end on a line of its own, and some of its words help nobody.
    private static func explained(_ fault: ConfigurationFault, _ bytes: [UInt8]) -> ConfigurationFault {
        let lines = lines(of: bytes)
        var fault = fault
        fault.line = min(fault.line, lines.count)
        guard !fault.text.contains("invalid Unicode character escape code") else {
            let text =
                #"an escape that is no character; what is beyond \uffff is a pair such as \ud83d\ude00"#
            return ConfigurationFault(line: fault.line, "not valid YAML: " + text)
        }
        let margin = lines[fault.line - 1].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard margin.contains(UInt8(ascii: "\t")) else { return fault }
        return ConfigurationFault(line: fault.line, "not valid YAML: a tab indents this line; use spaces")
    }

    /// As libyaml counts them, by YAML's five line breaks: at least one, and none after a break at the end.
    private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while let end = rest.indices.first(where: { lineBreak(at: rest[$0...]) != nil }) {
            lines.append(rest[..<end])
            rest = rest[(end + (lineBreak(at: rest[end...]) ?? 1))...]
        }
        if lines.isEmpty || !rest.isEmpty { lines.append(rest) }
        return lines
    }

    /// How long the break is that the bytes begin with: CR LF, LF, CR, NEL, LS or PS (YAML 1.1 §4.2).
    private static func lineBreak(at bytes: ArraySlice<UInt8>) -> Int? {
        switch bytes.first {
        case 0x0A: 1
        case 0x0D: bytes.dropFirst().first == 0x0A ? 2 : 1
        case 0xC2: bytes.dropFirst().first == 0x85 ? 2 : nil
        case 0xE2:
            bytes.starts(with: [0xE2, 0x80, 0xA8]) || bytes.starts(with: [0xE2, 0x80, 0xA9]) ? 3 : nil
        default: nil
        }
    }

    private static func notUTF8(_ bytes: [UInt8]) -> ConfigurationFault {
        let wrong = lines(of: bytes).firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        return ConfigurationFault(line: wrong + 1, "not UTF-8")
    }
}
