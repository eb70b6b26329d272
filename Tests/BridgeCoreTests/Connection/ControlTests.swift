import BridgeCore
import Testing
import WebSocketProtocol

/// Every control in every state: how the connection stands afterwards, and how often it was dialled.
@Suite struct Controls {
    typealias Standing = ConnectionMachine.Standing
    typealias Event = ConnectionMachine.Event

    enum Control: CaseIterable {
        case connect, reconnect, disconnect, pause, resume

        var event: Event {
            switch self {
            case .connect: .connectRequested
            case .reconnect: .reconnectRequested
            case .disconnect: .disconnectRequested(code: 1000, reason: "")
            case .pause: .pauseRequested
            case .resume: .resumeRequested
            }
        }
    }

    struct Row: CustomTestStringConvertible {
        let before: Standing
        /// In the order of `Control`.
        let after: [Standing]
        /// Where the connection stands once the socket that closes, if one does, has ended.
        let settled: [Standing]

        init(_ before: Standing, _ after: [Standing], settled: [Standing]? = nil) {
            self.before = before
            self.after = after
            self.settled = settled ?? after
        }

        var testDescription: String { before.rawValue }
    }

    static let rows = [
        //              connect      reconnect    disconnect  pause     resume
        Row(.idle, [.connecting, .connecting, .closed, .paused, .idle]),
        Row(.connecting, [.connecting, .connecting, .closed, .paused, .connecting]),
        Row(
            .open,
            [.open, .connecting, .closing, .closing, .open],
            settled: [.open, .connecting, .closed, .paused, .open]
        ),
        Row(
            .closing,
            [.closing, .connecting, .closing, .closing, .closing],
            settled: [.connecting, .connecting, .closed, .paused, .waiting]
        ),
        Row(.waiting, [.connecting, .connecting, .closed, .paused, .waiting]),
        Row(.offline, [.connecting, .connecting, .closed, .paused, .offline]),
        Row(.paused, [.connecting, .connecting, .closed, .paused, .connecting]),
        Row(.closed, [.connecting, .connecting, .closed, .closed, .closed]),
        Row(.failed, [.connecting, .connecting, .closed, .failed, .failed]),
    ]

    @Test func `have a row for every state`() {
        let all: Set<Standing> = [
            .idle, .connecting, .open, .closing, .waiting, .offline, .paused, .closed, .failed,
        ]
        #expect(Set(Self.rows.map(\.before)) == all)
    }

    @Test(arguments: rows, Array(Control.allCases.enumerated()).map { ($0.offset, $0.element) })
    func `lead to the state that they ask for, from every state`(row: Row, control: (Int, Control)) throws {
        var world = try world(row.before)
        let actions = try world.tell(control.1.event)
        #expect(world.machine.standing == row.after[control.0])
        let isNew =
            row.after[control.0] == .connecting && (row.before != .connecting || control.1 == .reconnect)
        #expect(actions.dials == (isNew ? 1 : 0))
        if world.machine.standing == .closing { try world.socket(.ended(error: nil)) }
        #expect(world.machine.standing == row.settled[control.0])
    }

    @Test(arguments: rows, Array(Control.allCases.enumerated()).map { ($0.offset, $0.element) })
    func `change nothing the second time, but for a reconnect`(row: Row, control: (Int, Control)) throws {
        guard control.1 != .reconnect else { return }
        var world = try world(row.before)
        try world.tell(control.1.event)
        let standing = world.machine.standing
        let again = try world.tell(control.1.event)
        #expect(again.isEmpty)
        #expect(world.machine.standing == standing)
    }

    @Test(arguments: rows)
    func `cut short nothing that is to stay`(row: Row) throws {
        var world = try world(row.before)
        let actions = try world.tell(.endRequested)
        #expect(actions.isEmpty)
    }

    @Test func `cut short what closes for the end`() throws {
        var world = try world(.open)
        try world.tell(.stopRequested)
        #expect(!world.isFinished)
        let actions = try world.tell(.endRequested)
        #expect(actions.drops == 1)
        #expect(actions.records == [.closed(code: 1006, reason: "", clean: false, by: .bridge)])
        #expect(world.isFinished)
    }

    private func world(_ standing: Standing) throws -> ConnectionWorld {
        try ConnectionWorld(standing: standing)
    }
}
