// Finds three values in a JSON message: as the bridge does, in one pass over its bytes, or by decoding it.
//
// usage: pointers wsbridge|FoundationEssentials BYTES SECONDS
import BridgeCore
import FoundationEssentials
import Glibc
import WebSocketProtocol

/// What a program would have decoded that needs these three alone.
struct Trade: Decodable {
    struct Data: Decodable {
        var symbol: String
    }

    var type: String
    var seq: Int
    var data: Data
}

func fail(_ text: String) -> Never {
    print("pointers: \(text)")
    exit(1)
}

/// A message of about so many bytes, what is looked for at its beginning, middle and end.
func message(bytes: Int) -> [UInt8] {
    var levels: [String] = []
    var size = 90
    while size < bytes {
        let level = #"{"price":"\#(60_000 + levels.count).25","amount":0.0125,"side":"b\u0075y"}"#
        levels.append(level)
        size += level.utf8.count + 1
    }
    let half = levels.count / 2
    let asks = levels[..<half].joined(separator: ",")
    let bids = levels[half...].joined(separator: ",")
    let text =
        #"{"type":"trade","data":{"asks":[\#(asks)],"symbol":"BTC-USD","bids":[\#(bids)]},"seq":9007199254740991}"#
    return Array(text.utf8)
}

func condition(_ pointer: String, _ value: JSONScalar?) -> JSONConditions.Condition {
    guard let pointer = JSONPointer(pointer) else { fail("no pointer") }
    return JSONConditions.Condition(pointer, value)
}

/// Does `work` for so long, and tells how often that was.
func measure(_ seconds: Double, _ work: () -> Bool) -> (count: Int, took: Duration, cpu: Int) {
    let clock = ContinuousClock()
    let start = clock.now
    let before = Glibc.clock()
    var count = 0
    while start.duration(to: clock.now) < .seconds(seconds) {
        for _ in 0..<16 where !work() { fail("what is there was not found") }
        count += 16
    }
    return (count, start.duration(to: clock.now), Glibc.clock() - before)
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let bytes = Int(arguments[2]), let seconds = Double(arguments[3]) else {
    fail("usage: pointers wsbridge|FoundationEssentials BYTES SECONDS")
}
let content = message(bytes: bytes)
let result: (count: Int, took: Duration, cpu: Int)
switch arguments[1] {
case "wsbridge":
    let matcher = Matcher.json(
        JSONConditions([
            condition("/type", .string("trade")), condition("/data/symbol", .string("BTC-USD")),
            condition("/seq", JSONNumber("9007199254740991").map(JSONScalar.number)),
        ])
    )
    let message = Message(.text, content)
    result = measure(seconds) { matcher.matches(message) }
case "FoundationEssentials":
    let decoder = JSONDecoder()
    let data = Data(content)
    result = measure(seconds) {
        guard let trade = try? decoder.decode(Trade.self, from: data) else { return false }
        return trade.type == "trade" && trade.data.symbol == "BTC-USD" && trade.seq == 9_007_199_254_740_991
    }
default:
    fail("there is no \(arguments[1])")
}
let took = Double(result.took.attoseconds) / 1e18
print(
    #"{"per_second":\#(Double(result.count) / took),"size":\#(content.count),"work":\#(result.count),"#
        + #""cpu_seconds":\#(Double(result.cpu) / 1e6),"cpu_us_each":\#(Double(result.cpu) / Double(result.count))}"#
)
