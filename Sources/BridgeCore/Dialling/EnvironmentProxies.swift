import WebSocketProtocol

/// The proxies that the environment asks for.
///
/// `HTTPS_PROXY` is for `wss`, `HTTP_PROXY` for `ws`, `ALL_PROXY` for what has none of its own; each is also read in
/// lower case, which wins. One that is empty counts as not set. `NO_PROXY` names what is reached directly.
package struct EnvironmentProxies: Equatable, Sendable {
    /// What a variable says.
    package enum Choice: Equatable, Sendable {
        case none
        case proxy(ProxyURL)
        /// It is no proxy; the text says what is wrong, without the value, which may hold a password.
        case malformed(variable: String, text: String)
    }

    package private(set) var secure = Choice.none
    package private(set) var plain = Choice.none
    package private(set) var direct = DirectHosts()
    /// The name under which `NO_PROXY` was found.
    package private(set) var directVariable = "NO_PROXY"

    /// No proxy at all.
    package init() {}

    package init(_ environment: [String: String]) {
        secure = EnvironmentProxies.choice(["HTTPS_PROXY", "ALL_PROXY"], environment)
        plain = EnvironmentProxies.choice(["HTTP_PROXY", "ALL_PROXY"], environment)
        guard let (variable, text) = EnvironmentProxies.value("NO_PROXY", environment) else { return }
        directVariable = variable
        direct = DirectHosts(text)
    }

    /// What is wrong with the variables: nothing may be dialled by them.
    var complaints: [StartError.Complaint] {
        var complaints: [StartError.Complaint] = []
        for case .malformed(let variable, let text) in [secure, plain] {
            let complaint = StartError.Complaint(variable, text, .configuration)
            if !complaints.contains(complaint) { complaints.append(complaint) }
        }
        return complaints
    }

    /// What the environment says of a URL.
    func choice(for url: WebSocketURL) -> Choice {
        guard case .tcp(let host, let port) = url.endpoint,
            !direct.cover(Destination(host: host, port: port))
        else { return .none }
        return url.isSecure ? secure : plain
    }

    private static func choice(_ names: [String], _ environment: [String: String]) -> Choice {
        for name in names {
            guard let (variable, text) = value(name, environment) else { continue }
            do throws(MalformedValue) {
                return .proxy(try ProxyURL(text, assumed: .http))
            } catch {
                return .malformed(variable: variable, text: "expected \(error.expectation)")
            }
        }
        return .none
    }

    private static func value(
        _ name: String,
        _ environment: [String: String]
    ) -> (variable: String, text: String)? {
        for variable in [name.lowercased(), name] {
            if let text = environment[variable], !text.isEmpty { return (variable, text) }
        }
        return nil
    }
}
