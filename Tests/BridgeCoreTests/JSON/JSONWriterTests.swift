import BridgeCore
import Testing

@Suite struct `JSON writer` {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.object(write)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func `members stand in order, separated by commas`() {
        let text = written { json in
            json.member("a", "x")
            json.member("b", 3)
            json.member("c", true)
            json.member("d", nil as String?)
            json.member("e", ifPresent: nil as Int?)
            json.member("f") { $0.object { $0.member("g", 1) } }
            json.member("h") { json in
                json.array { json in
                    json.element("i")
                    json.element { $0.object { _ in } }
                    json.element("j")
                }
            }
            json.member("k", -7)
        }
        let expected =
            #"{"a":"x","b":3,"c":true,"d":null,"e":null,"f":{"g":1},"h":["i",{},"j"],"k":-7}"#
        #expect(text == expected)
    }

    @Test(arguments: [
        ("plain é 😀", #""plain é 😀""#),
        ("quote \" and \\", #""quote \" and \\""#),
        ("\n\r\t\u{0}\u{1F}\u{7F}", #""\n\r\t\u0000\u001f\u007f""#),
        ("", #""""#),
    ])
    func `strings are escaped as RFC 8259 demands`(value: String, expected: String) {
        #expect(written { $0.member("s", value) } == "{\"s\":\(expected)}")
    }

    @Test(arguments: [
        (Duration.microseconds(400), "0.4"), (.zero, "0"), (.milliseconds(12), "12"),
        (.microseconds(-250), "-0.25"), (.nanoseconds(1_234_567), "1.234"), (.microseconds(7_050), "7.05"),
        (.seconds(90), "90000"),
    ])
    func `durations are milliseconds with at most three decimals`(value: Duration, expected: String) {
        #expect(written { $0.member("n", milliseconds: value) } == "{\"n\":\(expected)}")
    }
}
