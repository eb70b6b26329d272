/// The words after the program's name, sorted but not yet understood.
struct CommandArguments {
    private(set) var command: String?
    /// What stands after the command without being a flag or its value.
    private(set) var operands: [String] = []
    private(set) var flags: [Setting: String] = [:]
    private(set) var wantsHelp = false
    private(set) var complaints: [StartError.Complaint] = []

    private static let supportedFlags = Setting.allCases.filter(\.support.hasFlag).map(\.flag)

    init(_ arguments: some Collection<String>) {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                // What follows may begin like a flag.
                operands += rest
                rest = []
            } else if word == "--help" || word == "-h" {
                wantsHelp = true
            } else if word.hasPrefix("-"), word != "-", !(command == nil && word == "--version") {
                takeFlag(word, &rest)
            } else if command == nil {
                command = word
            } else {
                operands.append(word)
            }
        }
    }

    /// Takes `--name=value`, or `--name` and the word after it.
    private mutating func takeFlag(_ word: String, _ rest: inout ArraySlice<String>) {
        let equals = word.firstIndex(of: "=")
        let name = String(word[..<(equals ?? word.endIndex)])
        guard let setting = Setting.allCases.first(where: { $0.flag == name }) else {
            // The word after it is most likely its value, and no more wrong than the flag itself.
            if command != nil, equals == nil, rest.first?.hasPrefix("-") == false { rest.removeFirst() }
            return complain(nil, CommandArguments.unknown(name))
        }
        let isValueNext = setting.support != .toggle && rest.first.map { !$0.hasPrefix("--") } ?? false
        let value =
            equals.map { String(word[word.index(after: $0)...]) } ?? (isValueNext ? rest.popFirst() : nil)
        switch setting.support {
        case .variable:
            complain(name, "is not a flag; set the environment variable \(setting.variable)")
        case .toggle:
            guard value == nil else { return complain(name, "takes no value") }
            flags[setting] = ""
        case .flagAndVariable, .flag:
            guard let value, !value.isEmpty else { return complain(name, "needs a value") }
            guard flags.updateValue(value, forKey: setting) == nil else {
                return complain(name, "is given more than once")
            }
        }
    }

    private static func unknown(_ name: String) -> String {
        // What is no name at all may be a misplaced value, and values may be secret.
        let isName = name.utf8.count <= 40 && name.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") }
        guard isName else { return "an argument that starts with `-` is not a flag" }
        let hint = NearestName.of(name, among: supportedFlags + ["--help"]).map { "; did you mean \($0)?" }
        return "unknown flag \(name)" + (hint ?? "")
    }

    private mutating func complain(_ place: String?, _ text: String) {
        complaints.append(StartError.Complaint(place, text, .usage))
    }
}
