/// A text in which references were replaced: `${NAME}`, `${NAME:-default}`, `${file:PATH}` and, in presets,
/// `${parameter:NAME}`; `$${` is a literal `${`.
struct Interpolation: Equatable {
    /// What stands between the braces.
    enum Reference: Equatable {
        /// The default stands in for a variable that is not set, or empty, as in a shell.
        case variable(String, default: String?)
        case file(path: String)
        /// Of a preset.
        case parameter(String)
    }

    /// What stands in the place of a reference.
    struct Replacement: Equatable {
        var text: String
        /// The value of a preset's parameter, which is never shown.
        var isParameter = false
        /// Nobody gave the parameter a value, and none is needed yet.
        var isStandIn = false
    }

    /// Why a reference cannot be replaced; holds nothing of what it refers to.
    struct Failure: Error, Equatable {
        var text: String
        var exitCode = ExitCode.configuration
        /// The parameter that has no value, if that is all.
        var missingParameter: String?
    }

    /// The longest text, in bytes: references may stand for much, and stand there often.
    static let longest = 1 << 20

    private(set) var text: String
    /// Something of it did not stand in the file, so it must not be shown.
    private(set) var hasReferences = false
    private(set) var hasParameters = false
    private(set) var hasStandIns = false

    /// `lookUp` is told what stands before the reference, replaced already.
    init(
        _ written: String,
        lookUp: (Reference, _ before: [UInt8]) throws(Failure) -> Replacement
    ) throws(Failure) {
        text = written
        guard written.utf8.contains(UInt8(ascii: "$")) else { return }
        var result: [UInt8] = []
        var rest = Array(written.utf8)[...]
        while let dollar = rest.firstIndex(of: UInt8(ascii: "$")) {
            result += rest[..<dollar]
            rest = rest[dollar...]
            if rest.starts(with: "$${".utf8) {
                result += "${".utf8
                rest = rest.dropFirst(3)
            } else if rest.starts(with: "${".utf8) {
                guard let brace = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    throw Failure(text: "has a ${ without a }; a literal ${ is written $${")
                }
                let name = String(decoding: rest[(dollar + 2)..<brace], as: UTF8.self)
                let replacement = try lookUp(try Reference(name), result)
                result += replacement.text.utf8
                guard result.count <= Interpolation.longest else {
                    throw Failure(text: "is too long with its references replaced: more than 1MiB")
                }
                hasReferences = true
                if replacement.isParameter { hasParameters = true }
                if replacement.isStandIn { hasStandIns = true }
                rest = rest[(brace + 1)...]
            } else {
                result.append(UInt8(ascii: "$"))
                rest = rest.dropFirst()
            }
        }
        text = String(decoding: result + rest, as: UTF8.self)
    }
}

extension Interpolation.Reference {
    fileprivate init(_ text: String) throws(Interpolation.Failure) {
        if text.hasPrefix("file:") {
            let path = String(text.dropFirst("file:".count))
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw Interpolation.Failure(text: "has a ${file:} without a path")
            }
            self = .file(path: path)
            return
        }
        if text.hasPrefix("parameter:"), PresetParameter.isName(text.dropFirst("parameter:".count)) {
            self = .parameter(String(text.dropFirst("parameter:".count)))
            return
        }
        let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8[name.endIndex...]
        guard Self.isVariable(name), rest.isEmpty || rest.starts(with: ":-".utf8) else {
            throw Interpolation.Failure(
                text: "has something in ${} that is neither NAME, NAME:-default nor file:PATH"
            )
        }
        let standIn = rest.isEmpty ? nil : String(decoding: rest.dropFirst(2), as: UTF8.self)
        self = .variable(String(decoding: name, as: UTF8.self), default: standIn)
    }

    static func isVariable(_ name: Substring.UTF8View) -> Bool {
        guard let first = name.first, !(0x30...0x39).contains(first) else { return false }
        return name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
