package import WebSocketProtocol

/// What a template is filled in from.
package struct TemplateValues: Sendable {
    /// The message at hand, if there is one.
    package var message: Message?
    /// Where in it the values stand that the template asks for; nil if that is still to be found.
    package var found: [Range<Int>?]?
    /// The newest values on the connection.
    package var last = LastValues([])
    /// Captured values, as JSON, by name.
    package var variables: [String: [UInt8]] = [:]
    package var timeOfDay: WallTime
    /// The number of the message on its socket, from 1.
    package var counter: Int
    package var sha256: SHA256

    package init(timeOfDay: WallTime, counter: Int, sha256: @escaping SHA256) {
        self.timeOfDay = timeOfDay
        self.counter = counter
        self.sha256 = sha256
    }
}

/// The SHA-256 of some bytes, which BridgeIO has.
package typealias SHA256 = @Sendable ([UInt8]) -> [UInt8]

extension Template {
    /// More is not sent.
    static let longestExpansion = 16 << 20

    /// What the template comes to now; nil if that is too long.
    package func expanded(
        with values: TemplateValues,
        random: inout some RandomNumberGenerator
    ) -> [UInt8]? {
        let found = pointers.isEmpty ? nil : values.found ?? values.message?.values(search)
        let expansion = Expansion(
            values: values,
            found: found ?? Array(repeating: nil, count: pointers.count)
        )
        var output: [UInt8] = []
        return expansion.append(pieces, to: &output, random: &random) ? output : nil
    }
}

/// One filling in.
private struct Expansion {
    let values: TemplateValues
    /// Where the values of the message at hand stand.
    let found: [Range<Int>?]

    /// False if it becomes too long.
    func append(
        _ pieces: [Template.Piece],
        to output: inout [UInt8],
        random: inout some RandomNumberGenerator
    ) -> Bool {
        for piece in pieces {
            switch piece {
            case .text(let text): output += text
            case .value(let source, let position): append(value(of: source), at: position, to: &output)
            case .now: values.timeOfDay.appendText(to: &output)
            case .nowMilliseconds: output += String(values.timeOfDay.millisecondsSince1970).utf8
            case .uuid: UUIDText.append(to: &output, using: &random)
            case .counter: output += String(values.counter).utf8
            case .digest(let pieces):
                var argument: [UInt8] = []
                guard append(pieces, to: &argument, random: &random) else { return false }
                Base64.append(values.sha256(argument), to: &output)
            }
            guard output.count <= Template.longestExpansion else { return false }
        }
        return true
    }

    /// A value as JSON; null where there is none.
    private func value(of source: Template.Source) -> ArraySlice<UInt8> {
        switch source {
        case .message(let number):
            guard let place = found[number], let message = values.message else { return null }
            return message.bytes[place]
        case .last(let pointer): return values.last[pointer]?[...] ?? null
        case .variable(let name): return values.variables[name]?[...] ?? null
        }
    }

    private func append(
        _ value: ArraySlice<UInt8>,
        at position: Template.Position,
        to output: inout [UInt8]
    ) {
        let isString = value.first == UInt8(ascii: "\"")
        switch position {
        case .json:
            output += value
        case .plain:
            output += isString ? value.dropFirst().dropLast() : value
        case .string:
            if isString {
                output += value.dropFirst().dropLast()
            } else {
                var quoted: [UInt8] = []
                JSONWriter.appendString(value, to: &quoted)
                output += quoted.dropFirst().dropLast()
            }
        case .digest:
            let content = Array(isString ? value.dropFirst().dropLast() : value)
            output += isString ? JSONString.decoded(content.span) : content
        }
    }
}

private let null = Array("null".utf8)[...]
