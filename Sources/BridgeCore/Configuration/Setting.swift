/// What can be set from outside, by a flag or an environment variable.
enum Setting: String, CaseIterable {
    case upstream
    case listen
    case logLevel = "log-level"
    case logFormat = "log-format"
    case token
    case allowAnonymous = "allow-anonymous"
    case allowedHosts = "allowed-hosts"
    case allowedOrigins = "allowed-origins"
    case streamMode = "stream-mode"
    case config
    case dataDirectory = "data-dir"
    case publicDirectory = "public"
    case connection
    case wait
    case since
    case format
    case types
    case preset
    case explain

    /// The environment variable, such as `WSBRIDGE_LOG_LEVEL`.
    var variable: String {
        "WSBRIDGE_" + String(rawValue.map { $0 == "-" ? "_" : $0 }).uppercased()
    }

    var flag: String { "--" + rawValue }

    /// How it can be given.
    var support: Support {
        switch self {
        case .config, .upstream, .listen, .logLevel, .logFormat, .dataDirectory, .publicDirectory:
            .flagAndVariable
        case .token, .allowAnonymous, .allowedHosts, .allowedOrigins, .streamMode: .variable
        case .connection, .wait, .since, .format, .types, .preset: .flag
        case .explain: .toggle
        }
    }

    enum Support: Equatable {
        case flagAndVariable
        case variable
        case flag
        /// A flag without a value.
        case toggle

        var hasFlag: Bool { self != .variable }
        var hasVariable: Bool { self == .flagAndVariable || self == .variable }
    }

    /// Its value may be shown in an error.
    var isShowable: Bool {
        switch self {
        case .token, .upstream: false
        case .listen, .logLevel, .logFormat, .allowAnonymous, .allowedHosts, .allowedOrigins, .streamMode,
            .config, .dataDirectory, .publicDirectory, .connection, .wait, .since, .format, .types, .preset,
            .explain:
            true
        }
    }
}
