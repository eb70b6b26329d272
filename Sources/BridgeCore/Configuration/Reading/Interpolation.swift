/// A text in which references were replaced: `${NAME}`, `${NAME:-default}` and `${file:PATH}`; `$${` is a
/// literal `${`.
struct Interpolation: Equatable {
    /// What stands between the braces.
    enum Reference: Equatable {
        /// The default stands in for a variable that is not set, or empty, as in a shell.
        case variable(String, default: String?)
        case file(path: String)
    }

    /// Why a reference cannot be replaced; holds nothing of what it refers to.
    struct Failure: Error, Equatable {
        var text: String
        var exitCode = ExitCode.configuration
    }

    /// The longest text, in bytes: references may stand for much, and stand there often.
    static let longest = 1 << 20

    private(set) var text: String
    /// Something of it did not stand in the file, so it must not be shown.
    private(set) var hasReferences = false

    init(
        _ written: String,
        lookUp: (Reference) throws(Failure) -> String
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
                result += try lookUp(try Reference(name)).utf8
                guard result.count <= Interpolation.longest else {
                    throw Failure(text: "is too long with its references replaced: more than 1MiB")
                }
                hasReferences = true
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
        let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8[name.endIndex...]
        guard Self.isName(name), rest.isEmpty || rest.starts(with: ":-".utf8) else {
            throw Interpolation.Failure(
                text: "has something in ${} that is neither NAME, NAME:-default nor file:PATH"
            )
        }
        let standIn = rest.isEmpty ? nil : String(decoding: rest.dropFirst(2), as: UTF8.self)
        self = .variable(String(decoding: name, as: UTF8.self), default: standIn)
    }

    private static func isName(_ name: Substring.UTF8View) -> Bool {
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
