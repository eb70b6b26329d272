/// The parameters of a query, each known and, but for those that may be repeated, given once at most.
struct QueryParameters {
    private var values: [String: String] = [:]
    private var lists: [String: [String]] = [:]

    /// Takes the pairs of a query, of which `known`, `repeatable` and `access_token` are accepted.
    ///
    /// Throws `invalid-parameter` (400) that names the first unknown one, or the first one that is repeated and may
    /// not be.
    init(_ pairs: [QueryPair], known: [String], repeatable: [String] = []) throws(Problem) {
        for pair in pairs {
            if repeatable.contains(pair.name) {
                lists[pair.name, default: []].append(pair.value)
                continue
            }
            guard pair.name == "access_token" || known.contains(pair.name) else {
                let accepted = (repeatable + known + ["access_token"]).joined(separator: ", ")
                throw .invalidParameter(pair.name, "there is no such parameter here; there are: \(accepted)")
            }
            guard values.updateValue(pair.value, forKey: pair.name) == nil else {
                throw .invalidParameter(pair.name, "it is given more than once")
            }
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// What a parameter that may be repeated was given, in order.
    func all(_ name: String) -> [String] { lists[name] ?? [] }
}
