/// What a preset is to be told by whoever uses it, such as a token: an entry of its `parameters`.
struct PresetParameter: Equatable, Sendable {
    var name: String
    /// The environment variable that has the value where the connection has none.
    var variable: String?
    /// For people.
    var summary: String?
    /// The value where nobody has another; nil: it must be given.
    var standard: String?

    static let expectation = "a name has 1 to 64 letters, digits and `_`"

    static func isName(_ name: some StringProtocol) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Where a value can be put, for errors.
    var places: String {
        let variable = variable.map { ", or set the environment variable \($0)" } ?? ""
        return "put \(name) under `parameters`" + variable
    }
}

/// The parameters of the preset that a connection begins with, and what they stand for there.
struct PresetParameters {
    /// What a parameter without a value is replaced by while nobody needs one.
    static let standIn = "0"

    /// Of the preset.
    var declared: [PresetParameter]
    /// By name, what the connection says.
    var given: [String: String] = [:]
    /// What the connection says of them is wrong, so that nothing more is to be said.
    var isBroken = false
    /// Those of the process; none for what a client wrote, who must not get at them.
    var environment: [String: String] = [:]
    /// The preset is looked at alone: its parameters are not given.
    var areOpen = false
    /// Those that it was said of already that they have no value.
    var missing: Set<String> = []
    /// The connection.
    var home = ConfigurationPath()
    /// Put in place of every value, if there is one.
    var substitute: String?

    func value(of name: String) throws(Interpolation.Failure) -> Interpolation.Replacement {
        guard let parameter = declared.first(where: { $0.name == name }) else {
            let names = declared.map(\.name)
            let hint = NearestName.of(name, among: names).map { "did you mean \($0)?" }
            let all = names.isEmpty ? "it declares none" : "there are: \(names.joined(separator: ", "))"
            throw .init(text: "the preset has no parameter \(name); \(hint ?? all)")
        }
        if let substitute { return .init(text: substitute, isParameter: true) }
        if areOpen {
            let text = parameter.standard ?? PresetParameters.standIn
            return .init(text: text, isParameter: true, isStandIn: true)
        }
        if let text = given[name] { return .init(text: text, isParameter: true) }
        if let variable = parameter.variable, let text = environment[variable], !text.isEmpty {
            return .init(text: text, isParameter: true)
        }
        guard let text = parameter.standard else {
            if missing.contains(name) {
                return .init(text: PresetParameters.standIn, isParameter: true, isStandIn: true)
            }
            throw .init(text: "the parameter \(name) has no value", missingParameter: name)
        }
        return .init(text: text, isParameter: true)
    }
}
