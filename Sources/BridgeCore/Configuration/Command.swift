/// The commands of this version.
enum Command: String, CaseIterable {
    case serve
    case check
    case demo
    case health
    case send
    case tail
    case version
    case help

    /// The command that `word` names, `--version` included.
    init?(_ word: String) {
        self.init(rawValue: word == "--version" ? "version" : word)
    }

    /// What is said about a word that names none; it is repeated only if it looks like a name.
    static func unknown(_ word: String) -> StartError.Complaint {
        guard word.utf8.count <= 40, word.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "-") }) else {
            return .init(nil, "the first argument is not a command; there are: \(names)", .usage)
        }
        let nearest = NearestName.of(word, among: allCases.map(\.rawValue))
        let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(names)"
        return .init(nil, "unknown command \(word); \(hint)", .usage)
    }

    private static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// What it takes, or refuses with a reason of its own.
    var flags: Set<Setting> {
        switch self {
        case .serve, .demo: Command.settings
        case .check: Command.settings.union([.preset, .explain])
        case .health: [.config, .listen]
        case .send: [.config, .listen, .connection, .wait]
        case .tail: [.config, .listen, .connection, .since, .format, .types]
        case .version, .help: []
        }
    }

    private static let settings: Set<Setting> = [
        .config, .upstream, .listen, .dataDirectory, .publicDirectory, .logLevel, .logFormat,
    ]

    /// How many words it takes beside flags.
    var operandLimit: Int { self == .send || self == .help ? 1 : 0 }

    var helpText: String {
        switch self {
        case .serve: HelpText.serve
        case .check: HelpText.check
        case .demo: HelpText.demo
        case .health: HelpText.health
        case .send: HelpText.send
        case .tail: HelpText.tail
        case .version: HelpText.version
        case .help: HelpText.overview
        }
    }
}
