package import BridgeCore
internal import CYAML

/// Reads YAML 1.1, and with it JSON, into a tree.
package nonisolated enum YAMLReader {
    /// The tree of the one document that the bytes hold; an empty mapping if they hold none.
    ///
    /// - Throws: every key that stands twice, or the first thing that makes the text no YAML.
    package static func read(_ bytes: [UInt8]) throws(ConfigurationFaults) -> ConfigurationNode {
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
    ) throws(ConfigurationFaults) -> ConfigurationNode {
        var builder = ConfigurationTreeBuilder()
        do throws(ConfigurationFault) {
            let parser = try unsafe YAMLParser(buffer)
            let lastLine = lines(of: bytes).count
            while let (event, position) = try parser.next() {
                // What is empty at the end stands, for libyaml, on a line after the last one.
                let line = min(position.line, lastLine)
                try builder.handle(event, at: .init(line: line, column: position.column))
            }
        } catch {
            throw builder.faults(endingWith: explained(error, bytes))
        }
        return try builder.finish()
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

    /// As editors count them: at least one, and none after a line feed at the end.
    private static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    private static func notUTF8(_ bytes: [UInt8]) -> ConfigurationFault {
        let wrong = lines(of: bytes).firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        return ConfigurationFault(line: wrong + 1, "not UTF-8")
    }
}
