internal import BridgeCore
internal import Glibc
internal import WebSocketProtocol

/// How many clients' connections there may be, and what becomes of those beyond.
///
/// Where all of `limit` are taken, a socket that only waits for its client to close it makes room for the next one, or else
/// the client that has owed a request for longest: so those who open connections and say nothing, or say it slowly, or
/// never have enough, keep nobody out. If all are being served, up to `crowd`
/// connections more are accepted to be told why they are refused, and further ones are closed at once.
///
/// At its own limit libmicrohttpd stops accepting, and whoever comes then waits for nothing. So it never gets there.
/// The library's limits would not do either: it does not know of the streams that were taken away from it.
final class ConnectionRoom {
    /// Connections that are served.
    let limit: Int
    /// What the settings ask for.
    let wanted: Int
    /// More than there ever are.
    var daemonLimit: Int { limit + crowd + 1 }

    /// Gets how many were refused since it was last called: at the first one, then every ten seconds at most.
    var onRefusals: (Int) -> Void = { _ in }

    /// Connections beside those of subscribers.
    static let spareConnections = 1000
    /// Enough for those that come while others, up to ten at a time, are on their way out to make room for them.
    private static let largestCrowd = 32
    private static let reportInterval = Duration.seconds(10)

    private let loop: Loop
    private let crowd: Int
    /// How many there may be of one IP address; 0: no limit.
    private let perClient: Int
    private(set) var count = 0
    /// Of these, those that were cut off to make room, and that the daemon has still to notice.
    private var leaving = 0
    /// Those for whom there was no room, and who are told so.
    private var crowded: [ClientConnection] = []
    /// Those for whom there was no room, in all.
    private(set) var refused = 0
    /// By IP address; counted only where that is limited.
    private var counts: [String: Int] = [:]
    private var refusals = 0
    private var pause: LoopTimer?

    /// Makes room for `subscribers`, as far as the system lets the process have descriptors, of which each client takes
    /// `descriptors`; `upstreams` need some.
    init(loop: Loop, subscribers: Int, perClient: Int, upstreams: Int, descriptors: Int = 1) {
        self.perClient = perClient
        self.loop = loop
        wanted = subscribers + ConnectionRoom.spareConnections
        let free = ConnectionRoom.freeDescriptors - ConnectionRoom.reserve(for: upstreams)
        let clients = max(2, free / descriptors)
        crowd = min(ConnectionRoom.largestCrowd, max(1, clients / 4))
        limit = min(wanted, clients - crowd)
    }

    /// Whether one more may come, from this address; counts it as refused if there is no room for anybody.
    ///
    /// A socket that only waits for its end, if there is one, gives way.
    func admitsAnother(from address: () -> ClientAddress, closing: ClosingSockets) -> Bool {
        guard count < limit + crowd || closing.giveUpOne() else {
            refuse()
            return false
        }
        guard perClient > 0, case .ip(let host) = address() else { return true }
        guard counts[host, default: 0] < perClient else {
            refused += 1
            return false
        }
        return true
    }

    func opened(_ client: ClientConnection, deadlines: RequestDeadlines, closing: ClosingSockets) {
        count += 1
        if count - leaving > limit, !closing.giveUpOne() {
            if deadlines.giveUpOne() {
                leaving += 1
            } else {
                client.isCrowded = true
                // Nor do those who say nothing keep others from being told why they are refused.
                if crowded.count > crowd / 2, deadlines.giveUpOne(of: crowded) { leaving += 1 }
                crowded.append(client)
            }
        }
        if perClient > 0, case .ip(let host) = client.address { counts[host, default: 0] += 1 }
    }

    /// The daemon is done with a client; its socket may go on.
    func left(_ client: ClientConnection) {
        if client.isGivenUp { leaving -= 1 }
        if client.isCrowded { crowded.removeAll { $0 === client } }
    }

    func closed(_ address: ClientAddress) {
        count -= 1
        guard perClient > 0, case .ip(let host) = address, let count = counts[host] else { return }
        counts[host] = count > 1 ? count - 1 : nil
    }

    /// A client was told that there is no room.
    func refuse() {
        refusals += 1
        refused += 1
        if pause == nil { report() }
    }

    private func report() {
        onRefusals(refusals)
        refusals = 0
        pause = loop.startTimer(after: ConnectionRoom.reportInterval) { [unowned self] in
            pause = nil
            if refusals > 0 { report() }
        }
    }

    // MARK: Descriptors

    /// For what is opened now and then, so that accepting never fails for want of one; a dial may take two.
    private static func reserve(for upstreams: Int) -> Int {
        2 * upstreams + min(64, max(16, freeDescriptors / 8))
    }

    /// What the process may still open.
    private static var freeDescriptors: Int {
        var bounds = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bounds) == 0 else { return 1024 }
        // The lowest number that is free tells how many are used.
        let next = dup(STDERR_FILENO)
        guard next >= 0 else { return 0 }
        close(next)
        return max(0, Int(clamping: bounds.rlim_cur) - Int(next))
    }
}

extension HTTPServer {
    /// Answers a client that came when there was no room: whether the bridge lives, and else that it shall come back.
    func refuseCrowded(_ head: RequestHead, for exchange: Exchange) -> Exchange.Step {
        let fields: [HTTPField]
        switch handler.admit(head) {
        case .serve(let request):
            if request.route == .health,
                case .response(var response) = handler.serve(request, body: [], from: head)
            {
                response.closesConnection = true
                return exchange.refuse(head, response)
            }
            fields = request.fields
        case .answer(let refusal):
            fields = refusal.addedFields
        }
        room.refuse()
        let problem = Problem.tooManyConnections(limit: room.limit)
        // A page that may read answers may read this one.
        return exchange.refuse(head, HTTPResponse(problem).adding(fields))
    }

    /// Clients at a time; further ones are refused.
    ///
    /// Lower than what the settings ask for where the system lets the process have fewer descriptors.
    package var connectionLimit: Int { room.limit }

    /// What the settings ask for.
    package var wantedConnections: Int { room.wanted }

    /// Gets how many clients were refused since it was last called, every ten seconds at most.
    package var onRefusals: (Int) -> Void {
        get { room.onRefusals }
        set { room.onRefusals = newValue }
    }
}
