import BridgeCore
import Testing

@Suite struct `The public directory` {
    @Test(arguments: [
        ("public", nil, "/opt/bin", ["public", "/opt/bin/../share/wsbridge/public", "built-in"]),
        ("public", nil, nil, ["public", "built-in"]),
        (
            "public", "/etc/wsbridge", "/bin",
            ["/etc/wsbridge/public", "/bin/../share/wsbridge/public", "built-in"]
        ),
        ("mine", nil, "/opt/bin", ["mine", "/opt/bin/../share/wsbridge/mine"]),
        ("a/b", "conf", nil, ["conf/a/b"]),
        ("/srv/public", "/etc/wsbridge", "/opt/bin", ["/srv/public"]),
    ])
    func `is looked for near, beside the program, then inside it`(
        name: String,
        base: String?,
        executableFolder: String?,
        places: [String]
    ) {
        let directory = PublicDirectory(name: name, base: base)
        let found = directory.places(executableFolder: executableFolder).map { place in
            switch place {
            case .directory(let path): path
            case .builtIn: "built-in"
            }
        }
        #expect(found == places)
    }

    @Test func `comes from a flag, else the environment, else is the usual one`() {
        let serve = "serve --upstream ws://a"
        func directory(_ words: String, _ environment: [String: String] = [:]) -> PublicDirectory? {
            invoke(words, environment).configuration?.http.publicDirectory
        }
        #expect(directory(serve) == PublicDirectory(name: "public"))
        #expect(directory(serve, ["WSBRIDGE_PUBLIC": "a"]) == PublicDirectory(name: "a"))
        #expect(directory("\(serve) --public b", ["WSBRIDGE_PUBLIC": "a"]) == PublicDirectory(name: "b"))
        #expect(directory("demo --public=b") == PublicDirectory(name: "b"))
    }
}
