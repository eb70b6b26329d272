// The echo client for Autobahn|Testsuite's fuzzing server.
//
// Environment: WS_URL, where the server listens; WS_AGENT, the name in the report; WS_DEFLATE, 0 for no
// compression, else the parameters to offer (`1` for the bridge's own offer).
import BridgeIO
import Glibc
import WebSocketProtocol

func setting(_ name: String, default value: String) -> String {
    guard let text = unsafe getenv(name) else { return value }
    return unsafe String(cString: text)
}

func fail(_ text: String) -> Never {
    print("autobahn-client: \(text)")
    exit(1)
}

func run(_ path: String, echoes: Bool) -> EchoRun {
    do throws(WebSocketURLError) {
        let url = try WebSocketURL(server + path)
        return EchoRun(loop: loop, url: url, compression: offer, echoes: echoes)
    } catch {
        fail("the URL \(error)")
    }
}

let server = setting("WS_URL", default: "ws://127.0.0.1:9001")
let agent = setting("WS_AGENT", default: "wsbridge")
let offer = setting("WS_DEFLATE", default: "1") == "0" ? nil : DeflateOffer()
let loop = Loop()

let counting = run("/getCaseCount", echoes: false)
guard let count = counting.firstText.flatMap(Int.init) else { fail(counting.failure ?? "no case count") }
for number in stride(from: 1, through: count, by: 1) {
    let test = run("/runCase?case=\(number)&agent=\(agent)", echoes: true)
    if let failure = test.failure { print("case \(number): \(failure)") }
}
let report = run("/updateReports?agent=\(agent)", echoes: false)
if let failure = report.failure { fail("no report: \(failure)") }
print("\(count) cases run")
