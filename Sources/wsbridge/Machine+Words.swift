internal import BridgeCore
internal import Glibc

/// What the process was started with, as it came: Swift would mend what is not UTF-8, and so change it.
extension Machine {
    /// The words after the program's name.
    ///
    /// - Throws: which of them are not UTF-8.
    static var arguments: [String] {
        get throws(StartError) {
            let words = unsafe UnsafeBufferPointer(
                start: CommandLine.unsafeArgv,
                count: Int(CommandLine.argc)
            ).dropFirst()
            let texts = unsafe words.map { unsafe $0.flatMap { unsafe String(validatingCString: $0) } }
            let complaints = texts.indices.filter { texts[$0] == nil }.map { index in
                StartError.Complaint(nil, "argument \(index + 1) is not UTF-8", .usage)
            }
            guard complaints.isEmpty else { throw StartError(complaints) }
            return texts.compactMap(\.self)
        }
    }

    /// The variables of the environment whose values are UTF-8; the others count as not set.
    static var environment: Environment {
        var environment = Environment()
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe entry += 1
            environment.take(unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text))))
        }
        return environment
    }

    /// Takes these variables out of the environment, before anything else could look at it.
    static func forget(_ names: [String]) {
        for name in names { unsafe unsetenv(name) }
    }

    static var processNumber: Int32 { getpid() }

    struct Environment {
        private(set) var variables: [String: String] = [:]
        /// About our own variables that are not UTF-8.
        private(set) var complaints: [StartError.Complaint] = []

        fileprivate mutating func take(_ entry: [UInt8]) {
            guard let equals = entry.firstIndex(of: UInt8(ascii: "=")) else { return }
            let name = String(decoding: entry[..<equals], as: UTF8.self)
            if let value = String(validating: entry[(equals + 1)...], as: UTF8.self) {
                if variables[name] == nil { variables[name] = value }
            } else if name.hasPrefix("WSBRIDGE_") {
                complaints.append(StartError.Complaint(name, "is not UTF-8", .configuration))
            }
        }
    }
}
