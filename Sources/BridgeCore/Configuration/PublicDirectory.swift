/// Where the files of the page are looked for (`http.publicDirectory`).
package struct PublicDirectory: Equatable, Sendable {
    /// A place that may have them.
    package enum Place: Equatable, Sendable {
        case directory(String)
        /// The copy inside the program.
        case builtIn
    }

    /// A path, as it was given.
    package var name: String
    /// The folder that a relative name starts at; nil: the working directory.
    package var base: String?

    package init(name: String = PublicDirectory.builtInName, base: String? = nil) {
        self.name = name
        self.base = base
    }

    /// The places in the order in which they are tried.
    ///
    /// `executableFolder` is the one that the program is in, if that is known.
    package func places(executableFolder: String?) -> [Place] {
        guard !name.hasPrefix("/") else { return [.directory(name)] }
        var places = [Place.directory(base.map { "\($0)/\(name)" } ?? name)]
        if let executableFolder {
            places.append(.directory("\(executableFolder)/../share/wsbridge/\(name)"))
        }
        if name == PublicDirectory.builtInName { places.append(.builtIn) }
        return places
    }

    /// The name by which the copy inside the program goes.
    package static let builtInName = "public"
}
