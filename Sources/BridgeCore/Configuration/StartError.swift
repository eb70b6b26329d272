/// Why the command was not carried out: everything that is wrong with what it was given, not only the first.
package struct StartError: Error, Equatable, Sendable {
    /// One thing that is wrong.
    package struct Complaint: Equatable, Sendable {
        /// The flag or variable it stands in; nil: the command as a whole.
        package var place: String?
        package var text: String
        package var exitCode: ExitCode

        package init(_ place: String?, _ text: String, _ exitCode: ExitCode) {
            self.place = place
            self.text = text
            self.exitCode = exitCode
        }
    }

    package var complaints: [Complaint]

    package init(_ complaints: [Complaint]) {
        self.complaints = complaints
    }

    /// A wrong command line counts before a wrong configuration.
    package var exitCode: ExitCode {
        complaints.contains { $0.exitCode == .usage } ? .usage : complaints.first?.exitCode ?? .internalError
    }

    /// For stderr, one line a complaint and, for a wrong command line, one that says where to read on.
    package var lines: [String] {
        var lines = complaints.map { complaint in
            complaint.place.map { "wsbridge: \($0): \(complaint.text)" } ?? "wsbridge: \(complaint.text)"
        }
        if exitCode == .usage { lines.append("wsbridge: `wsbridge help` shows how it is used") }
        return lines
    }
}
