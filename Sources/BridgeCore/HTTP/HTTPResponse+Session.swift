extension HTTPResponse {
    /// Tells who asks what they may do, and until when if they have a session.
    package init(session: SessionTable.Session?, of caller: Caller) {
        self.init(status: 200) { json in
            json.member("token", caller.token?.name)
            json.member("allow") { json in
                json.array { json in
                    for scope in AccessScope.allCases where caller.token?.scopes.contains(scope) ?? true {
                        json.element(scope.rawValue)
                    }
                }
            }
            json.member("connections") { json in
                json.array { json in
                    for pattern in caller.token?.connections ?? [NamePattern("*")] {
                        json.element(pattern.text)
                    }
                }
            }
            json.member("expiresAt", session?.end.text)
        }
    }
}
