import WebSocketProtocol

/// How a value is written in the configuration file: read from the tree, and written back for `wsbridge check`.
struct Form<Value>: Sendable {
    /// The value; nil after complaining.
    let read: @Sendable (ConfigurationNode, inout ConfigurationReader) -> Value?
    /// The value as it may be shown: what is secret is masked.
    let write: @Sendable (Value) -> ConfigurationNode
}

/// What stands for a secret in what is shown.
let secretMask = "***"

// MARK: - Scalars

extension Form {
    /// A text with a meaning; `isSecret` keeps it out of errors.
    ///
    /// `expectation` completes "expected …"; what `parse` throws tells it better, knowing the text. `resolve`
    /// makes a path in the text count from the configuration file's folder. `isTemplate` tells that values of
    /// parameters have to be kept from being templates, `isPartlyShown` that not all of a secret is masked.
    static func scalar(
        _ expectation: String,
        isSecret: Bool = false,
        isTemplate: Bool = false,
        isPartlyShown: Bool = false,
        resolve: @escaping @Sendable (String, ConfigurationReader) -> String = { text, _ in text },
        parse: @escaping @Sendable (String) throws(MalformedValue) -> Value,
        write: @escaping @Sendable (Value) -> ConfigurationNode
    ) -> Form {
        Form(
            read: { node, reader in
                guard
                    let scalar = reader.scalar(node, expecting: expectation, isTemplate: isTemplate)
                else { return nil }
                guard !scalar.isNull || scalar.hasStandIns else {
                    reader.complain(node, "expected \(expectation), not null")
                    return nil
                }
                if scalar.hasParameters {
                    // Whatever they are, the same must be shown.
                    let shown = ["1", "2"].compactMap { substitute in
                        reader.text(of: node, withParametersAs: substitute)
                            .flatMap { try? parse($0) }.map(write)
                    }
                    guard isSecret, !isPartlyShown || shown.count == 2 && shown[0] == shown[1] else {
                        reader.complainOfShownParameter(at: node)
                        return nil
                    }
                }
                do throws(MalformedValue) {
                    return try parse(resolve(scalar.text, reader))
                } catch {
                    guard !scalar.hasStandIns else {
                        reader.markBroken()
                        return nil
                    }
                    let shown =
                        isSecret || !scalar.isWritten ? "" : ", not `\(Problem.quotable(scalar.text))`"
                    reader.complain(node, "expected \(error.expectation)\(shown)")
                    return nil
                }
            },
            write: write
        )
    }

    /// A text with a meaning, of which nothing better can be said than what was expected.
    private static func simple(
        _ expectation: String,
        parse: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Form {
        scalar(
            expectation,
            parse: { text throws(MalformedValue) in
                guard let value = parse(text) else { throw MalformedValue(expectation) }
                return value
            },
            write: { .plain(write($0)) }
        )
    }
}

extension Form<Bool> {
    static let flag = simple("true or false", parse: { Bool($0) }, write: { String($0) })
}

extension Form where Value: FixedWidthInteger & Sendable {
    static func number(_ range: ClosedRange<Value>) -> Form {
        simple(
            "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { text in Value(digits: text).flatMap { range.contains($0) ? $0 : nil } },
            write: { String($0) }
        )
    }
}

extension Form<Double> {
    /// A number with decimals, but without an exponent.
    static func decimal(_ range: ClosedRange<Double>) -> Form {
        simple(
            "a number from \(shortest(range.lowerBound)) to \(shortest(range.upperBound))",
            parse: { text in
                let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.allSatisfy({ UInt64(digits: $0) != nil }), let value = Double(text) else {
                    return nil
                }
                return range.contains(value) ? value : nil
            },
            write: shortest
        )
    }

    static func shortest(_ value: Double) -> String {
        let text = String(value)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Form<Duration> {
    static func duration(_ range: ClosedRange<Duration>) -> Form { duration(range, orZero: false) }

    /// A duration in the range, or zero, which means something of its own.
    static func duration(_ range: ClosedRange<Duration>, orZero: Bool) -> Form {
        let least = orZero ? "0, or \(range.lowerBound.text)" : range.lowerBound.text
        return simple(
            "a duration such as 250ms, 20s or 1m30s (\(least) to \(range.upperBound.text))",
            parse: { text in
                guard let value = try? Duration(text: text) else { return nil }
                return range.contains(value) || (orZero && value == .zero) ? value : nil
            },
            write: \.text
        )
    }
}

extension Form<Int> {
    /// A number of bytes.
    static func size(_ range: ClosedRange<Int>) -> Form {
        let least = ByteSize(bytes: range.lowerBound).text
        return simple(
            "a size such as 64KiB or 16MiB (\(least) to \(ByteSize(bytes: range.upperBound).text))",
            parse: { text in
                guard let size = try? ByteSize(text: text) else { return nil }
                return range.contains(size.bytes) ? size.bytes : nil
            },
            write: { ByteSize(bytes: $0).text }
        )
    }
}

extension Form where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// One of a few words.
    static func word() -> Form {
        let words = Value.allCases.map(\.rawValue)
        let expectation = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return scalar(
            expectation,
            parse: { text throws(MalformedValue) in
                guard let value = Value(rawValue: text) else {
                    throw MalformedValue(expectation)
                }
                return value
            },
            write: { .plain($0.rawValue) }
        )
    }
}

extension Form<String> {
    /// Any text.
    static let text = scalar("a text", parse: { text throws(MalformedValue) in text }, write: { .quoted($0) })
}
