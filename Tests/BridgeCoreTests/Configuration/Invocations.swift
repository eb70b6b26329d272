import BridgeCore

/// What the command makes of words and an environment.
func invoke(
    _ words: String,
    _ environment: [String: String] = [:]
) -> Result<Invocation, StartError> {
    do throws(StartError) {
        return .success(
            try Invocation(
                arguments: words.split(separator: " ").map(String.init),
                environment: environment,
                files: .none
            )
        )
    } catch {
        return .failure(error)
    }
}

extension ConfigurationFiles {
    /// A machine without files.
    static var none: ConfigurationFiles {
        ConfigurationFiles(
            read: { _, _ throws(Unreadable) in throw Unreadable("no such file or directory", isMissing: true)
            },
            parse: { _ throws(ConfigurationFaults) in ConfigurationTree(root: .init(.mapping([]))) }
        )
    }
}

extension Result<Invocation, StartError> {
    var error: StartError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }

    var lines: String { error?.lines.joined(separator: "\n") ?? "" }

    var configuration: BridgeConfiguration? {
        switch self {
        case .success(.serve(let configuration)), .success(.demo(let configuration)): configuration
        case .success, .failure: nil
        }
    }
}
