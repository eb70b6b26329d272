import BridgeCore
import Testing

@Suite struct `An explanation` {
    @Test func `says what is sent when, without secrets`() throws {
        let scene = ConfigurationScene(
            files: ["conf/p.yaml": "rate: { messages: 5, per: 1s }"],
            environment: ["S": "s3cret"],
            flags: ["--explain"]
        )
        let yaml = #"""
            connections:
              b: { url: "ws://s3cret@h/p?s3cret", connect: manual, receiveOnly: true, heartbeat: { interval: 0 } }
              a:
                preset: p.yaml
                url: [ws://h1, ws://h2]
                connect: onDemand
                resumeUrl: "ws://s3cret/{{var:id}}"
                headers: { A: "${S}" }
                subprotocols: [v1]
                onOpen:
                  - send: { text: '{"s3cret":"${S}","id":"{{uuid}}"}' }
                  - expect: { json: { /op: 10, /x: null, /y: s3cret } }
                    capture: { id: /id }
                    forward: true
                  - when: { captured: id }
                    send: { text: "{{/a}}{{/a}}{{last:/s}}{{var:id}}{{counter}}{{now}}{{sha256base64:s3cret}}" }
                  - when: { equals: s3cret }
                    expect: { prefix: s3cret }
                    timeout: 2m
                heartbeat: { interval: 5s, send: { base64: AAE= }, expect: { contains: s3cret }, closeCode: 4000 }
                rules:
                  - { when: { regex: s3cret }, reply: { text: s3cret }, topic: "a.{{/b}}", forward: false }
                  - { when: { any: true }, heartbeatInterval: /h, action: rotate, urlPointer: /u }
                  - { when: { base64: AAE= }, action: stop, closeCode: 4001 }
                  - { when: { any: true }, action: reconnect }
                request: { correlate: /id, id: counter }
                reconnect: { factor: 1, jitter: 0, maxRetries: 3, stopOnCloseCodes: [1000, 4000-4005], forgetOnCloseCodes: [4007], stopOnStatus: [401] }
            """#
        let text = try scene.checked(yaml)
        #expect(!text.contains("s3cret"))
        #expect(
            text == """
                connection a (preset conf/p.yaml)
                  Connects while somebody reads or sends, and for 1m after that to ws://h1/, then ws://h2/.
                  While id is captured, it goes on at the URL made of that.
                  Sends the header fields A.
                  Offers the subprotocols v1.
                  After each open, in this order, and is ready after the last one:
                    1. sends a text with a random id
                    2. waits for JSON with 10 at /op and /x and a certain text at /y, at most 5s, which is forwarded as well, \
                captures id from /id
                    3. if id is captured: sends a text with /a of the message and the newest /s and the captured id and its \
                number on the socket and the time and a hash
                    4. if the message that was waited for last is a certain text: waits for a text with a certain beginning, \
                at most 2m
                  Every 5s, until a rule tells another interval, sends bytes.
                  After 2 in a row with nothing at all arriving the connection counts as lost and is closed with 4000.
                  What is an answer to heartbeats (a text with a certain part) is not forwarded.
                  Of each message that arrives, all that apply, in this order:
                    1. a text that matches an expression: answers with a text, has the topic a.{{/b}}, is not forwarded
                    2. any message: takes the interval of heartbeats from /h, in milliseconds, opens the next socket at the \
                URL in /u before it closes this one
                    3. certain bytes: closes with 4001 for good
                    4. any message: closes with 1000 and dials again
                  Sends at most 5 messages in any 1s, heartbeats included.
                  What clients send waits until it is ready, 1000 messages at most.
                  A request finds its reply by /id; one without a value there gets its number on the socket.
                  When it is lost, it dials again after 500ms; after 3 retries it gives up.
                  Closed with 1000, 4000-4005 it stays closed.
                  Closed with 4007 it forgets what that URL is made of.
                  A handshake answered with 401 is the last one.

                connection b
                  Connects when a client asks for it (POST …/connect) to ws://***@h/p?***.
                  Is ready as soon as it is open.
                  Sends no heartbeats.
                  Sends no messages of clients.
                  When it is lost, it dials again after 500ms, then 2 times that each time, at most 1m, each shortened by a \
                random part of it, 0.25 at most.

                """
        )
    }

    @Test func `of a wrong file is what is wrong`() {
        let scene = ConfigurationScene(flags: ["--explain"])
        guard case .failure(let error) = scene.run("connections: { a: {} }", as: "check") else {
            Issue.record("taken")
            return
        }
        #expect(error.lines == ["conf/w.yaml:1: connections.a: needs url"])
    }
}

@Suite struct `A preset alone` {
    private let preset = #"""
        parameters:
          token: { variable: TOKEN, description: "A: token" }
          list: { default: '["a"]' }
        url: wss://h/?${parameter:token}
        headers: { A: "${parameter:token}", B: "${NAME:-x}" }
        rules:
          - when: { json: { /a: "11", /b: 11, /c: -1.5, /d: "true", /e: true, /f: null, /g: "", /h: 'x: #y' } }
            reply: { text: '{"t":"${parameter:token}","l":${parameter:list},"d":"$${x}"}' }
        """#

    @Test func `is shown over the defaults, with its parameters as names`() throws {
        let scene = ConfigurationScene(
            files: ["conf/presets/p.yaml": preset],
            environment: ["TOKEN": "s3cret"],
            flags: ["--preset", "p"]
        )
        let text = try scene.checked("")
        #expect(!text.contains("s3cret"))
        #expect(
            text.hasPrefix(
                """
                # The preset p: conf/presets/p.yaml
                parameters:
                  token:
                    variable: TOKEN
                    description: "A: token"
                """
            )
        )
        for line in [
            "url: \"wss://h/?${parameter:token}\"", "/a: \"11\"", "/b: 11", "/c: -1.5", "/d: \"true\"",
            "/e: true",
            "/f: null", "/g: \"\"", "/h: \"x: #y\"", "interval: 20s", "A: \"${parameter:token}\"",
            "B: \"${NAME:-x}\"",
            #"text: "{\"t\":\"${parameter:token}\",\"l\":${parameter:list},\"d\":\"$${x}\"}""#,
        ] {
            #expect(text.contains(" \(line)\n") || text.contains("\n\(line)\n"), "\(line)")
        }
        let again = ConfigurationScene(files: ["conf/presets/p.yaml": text], flags: scene.flags)
        #expect(try again.checked("") == text)
    }

    @Test func `that is wrong is told with its file and line`() {
        let scene = ConfigurationScene(
            files: ["conf/presets/p.yaml": "url: ws://h\nheders: {}\nnetwork: ${parameter:x}\n"],
            flags: ["--preset", "p"]
        )
        guard case .failure(let error) = scene.run("", as: "check") else {
            Issue.record("taken")
            return
        }
        #expect(
            error.lines == [
                "conf/presets/p.yaml:3: network: the preset has no parameter x; it declares none",
                "conf/presets/p.yaml:2: heders: unknown key; did you mean headers?",
            ]
        )
        #expect(error.exitCode == .configuration)
    }

    @Test func `that is not there is a wrong flag`() {
        var scene = ConfigurationScene(flags: ["--preset", "caht"], builtInPresets: ["chat": ""])
        guard case .failure(let error) = scene.run("", as: "check") else {
            Issue.record("taken")
            return
        }
        #expect(error.lines.first == "wsbridge: --preset: there is no preset caht; did you mean chat?")
        #expect(error.exitCode == .usage)
        scene.flags = ["--preset", "./caht"]
        guard case .failure(let error) = scene.run("", as: "check") else {
            Issue.record("taken")
            return
        }
        #expect(error.lines == ["wsbridge: --preset: conf/./caht cannot be read: no such file or directory"])
        #expect(error.exitCode == .unreadableFile)
    }
}
