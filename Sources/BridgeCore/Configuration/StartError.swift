/// Why the command was not carried out: everything that is wrong with what it was given, not only the first.
package struct StartError: Error, Equatable, Sendable {
    /// One thing that is wrong.
    package struct Complaint: Equatable, Sendable {
        /// The flag, variable or file it stands in; nil: the command as a whole.
        package var place: String?
        /// In the file.
        package var line: Int?
        package var text: String
        package var exitCode: ExitCode

        package init(_ place: String?, _ text: String, _ exitCode: ExitCode) {
            self.place = place
            self.text = text
            self.exitCode = exitCode
        }

        init(file: String, line: Int, _ text: String, _ exitCode: ExitCode) {
            self.init(file, text, exitCode)
            self.line = line
        }

        /// Editors find their way by `FILE:LINE:`, so nothing stands before that.
        fileprivate var shown: String {
            switch (place, line) {
            case (let place?, let line?): "\(place):\(line): \(text)"
            case (let place?, nil): "wsbridge: \(place): \(text)"
            case (nil, _): "wsbridge: \(text)"
            }
        }
    }

    package var complaints: [Complaint]

    package init(_ complaints: [Complaint]) {
        self.complaints = complaints
    }

    /// A wrong command line counts before a wrong configuration, and that before a file that cannot be read.
    package var exitCode: ExitCode {
        let codes = complaints.map(\.exitCode)
        return [.usage, .configuration].first(where: codes.contains) ?? codes.first ?? .internalError
    }

    /// For stderr, one line a complaint and, for a wrong command line, one that says where to read on.
    package var lines: [String] {
        var lines = complaints.map(\.shown)
        if exitCode == .usage { lines.append("wsbridge: `wsbridge help` shows how it is used") }
        return lines
    }
}
