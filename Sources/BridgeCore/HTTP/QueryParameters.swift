/// The parameters of a query, each known and given once at most.
struct QueryParameters {
    private var values: [String: String] = [:]

    /// Takes the pairs of a query, of which `known` and `access_token` are accepted.
    ///
    /// Throws `invalid-parameter` (400) that names the first unknown or repeated one.
    init(_ pairs: [QueryPair], known: [String]) throws(Problem) {
        for pair in pairs {
            guard pair.name == "access_token" || known.contains(pair.name) else {
                let accepted = (known + ["access_token"]).joined(separator: ", ")
                throw .invalidParameter(pair.name, "there is no such parameter here; there are: \(accepted)")
            }
            guard values.updateValue(pair.value, forKey: pair.name) == nil else {
                throw .invalidParameter(pair.name, "it is given more than once")
            }
        }
    }

    subscript(name: String) -> String? { values[name] }
}
