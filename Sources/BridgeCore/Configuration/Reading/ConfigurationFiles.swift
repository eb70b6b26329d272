/// How the configuration reaches what lies outside of the process: given by whoever may touch files.
package struct ConfigurationFiles {
    /// Why a file's content cannot be had: a phrase such as "no such file or directory".
    package struct Unreadable: Error, Equatable, Sendable {
        package var reason: String
        /// There is no such file.
        package var isMissing: Bool

        package init(_ reason: String, isMissing: Bool = false) {
            self.reason = reason
            self.isMissing = isMissing
        }
    }

    /// The longest configuration file, in bytes.
    package static let longestDocument = 4 << 20
    /// The longest file that is taken as a value, or that holds certificates or a key.
    package static let longestValue = 1 << 20

    /// Reads a whole file, which must not have more than the given number of bytes.
    package var read: (_ path: String, _ limit: Int) throws(Unreadable) -> [UInt8]
    /// Reads YAML.
    package var parse: ([UInt8]) throws(ConfigurationFaults) -> ConfigurationTree
    /// Tries the files that TLS settings name, all of which can be read; says what is wrong with each.
    package var tryTLS: (TLSSettings) -> [TLSFileFault] = { _ in [] }
    /// The folder that the program is in, if that is known.
    package var executableFolder: String?
    /// The presets inside the program, in YAML by their names.
    package var builtInPresets: () -> [String: [UInt8]] = { [:] }
    /// How much memory the process may use, as far as the system tells.
    package var memoryLimit: () -> MemoryLimit? = { nil }
    /// Looks at the store in a directory, and tells in a line what it holds, or why none can be there.
    package var inspectStore: (String) throws(Unreadable) -> String = { _ throws(Unreadable) in "" }
    /// Looks for the page.
    package var findPage: (PublicDirectory) throws(Unreadable) -> Void = { _ throws(Unreadable) in }

    /// The address of the listening socket that the process was passed, if it was passed one.
    package var passedAddress: ListenAddress?

    package init(
        read: @escaping (_ path: String, _ limit: Int) throws(Unreadable) -> [UInt8],
        parse: @escaping ([UInt8]) throws(ConfigurationFaults) -> ConfigurationTree
    ) {
        self.read = read
        self.parse = parse
    }

    /// There are none.
    static var none: ConfigurationFiles {
        ConfigurationFiles(
            read: { _, _ throws(Unreadable) in throw Unreadable("there are no files") },
            parse: { _ throws(ConfigurationFaults) in ConfigurationTree(root: .mapping([])) }
        )
    }
}
