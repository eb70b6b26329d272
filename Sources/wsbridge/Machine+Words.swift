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

    /// The environment; a variable whose value is not UTF-8 counts as not set unless it is one of ours.
    ///
    /// - Throws: which of ours are not UTF-8.
    static var environment: [String: String] {
        get throws(StartError) {
            var variables: [String: String] = [:]
            var complaints: [StartError.Complaint] = []
            var entry = unsafe environ
            while let text = unsafe entry.pointee {
                unsafe entry += 1
                let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: strlen(text)))
                guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let name = String(decoding: bytes[..<equals], as: UTF8.self)
                if let value = String(validating: bytes[(equals + 1)...], as: UTF8.self) {
                    if variables[name] == nil { variables[name] = value }
                } else if name.hasPrefix("WSBRIDGE_") {
                    complaints.append(StartError.Complaint(name, "is not UTF-8", .configuration))
                }
            }
            guard complaints.isEmpty else { throw StartError(complaints) }
            return variables
        }
    }
}
