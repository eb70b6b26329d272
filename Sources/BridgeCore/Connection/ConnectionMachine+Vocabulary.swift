package import WebSocketProtocol

extension ConnectionMachine {
    /// Names one started timer, so that a late report of a cancelled one is recognised.
    package struct TimerID: Hashable, Sendable {
        package var number: UInt64

        package init(_ number: UInt64) {
            self.number = number
        }
    }

    /// A frame of our own that the machine wants to hear about when the kernel has taken it.
    package enum OwnFrame: Equatable, Sendable {
        /// A ping, or a message that is sent in its place.
        case heartbeat
        case pong
        /// What a message that matched `heartbeat.expect` is answered with.
        case reply
        /// What a rule answers a message with, by its size.
        case ruleReply(bytes: Int)
        /// What a step of `onOpen` sends.
        case script
    }

    /// What has happened.
    package enum Event: Equatable, Sendable {
        /// The process is up.
        case started
        /// A user wants the connection up.
        case connectRequested
        /// A user wants it down; the code must be one that may be sent (RFC 6455 §7.4), the reason at most 123
        /// bytes.
        case disconnectRequested(code: UInt16, reason: String)
        /// A user wants a fresh socket, whatever the present one does.
        case reconnectRequested
        /// A user wants no connection for a while; messages to send are still taken in.
        case pauseRequested
        /// A user wants things to go on as before the pause.
        case resumeRequested
        /// The process is about to end, or the connection was removed.
        case stopRequested
        /// What still closes after `stopRequested` is not to be waited for any longer.
        case endRequested
        /// Someone wants a message sent, which may be taken or refused after this.
        case messageOffered
        /// Whether anything needs the connection now: a reader, a message that is not sent yet, or a
        /// request that waits for its reply.
        case demandChanged(isWanted: Bool)
        /// There is no way to the upstream any more, or the path of the open socket is gone. More than once is as good as
        /// once.
        case networkLost
        /// There is a way to the upstream again. More than once is as good as once.
        case networkRestored
        /// The URL that was asked for is there.
        case urlFound(SocketID)
        /// The attempt has got this far; the deadline's failure names the phase, and tells what became of the addresses.
        case dialReached(SocketID, DialPhase, account: String? = nil)
        /// The socket reported this. Its `written` means nothing here: see the next two.
        case socket(SocketID, SocketEvent)
        /// The kernel took a frame of ours that is no message of the outbox; in the order in which they were sent.
        case frameWritten(SocketID, OwnFrame)
        /// The kernel took bytes since this was last asked, which must be before every `timerFired`.
        case writeProgressed(SocketID)
        /// What came in and is no message yet, and whether bytes came since this was last asked, which must be before
        /// every `timerFired` and every `frameWritten` of a heartbeat.
        case readProgressed(SocketID, Intake = .betweenMessages, hasGrown: Bool = true)
        /// To be reported only after all input that was there when the time was up has been reported.
        case timerFired(TimerID)
        /// After `drain`: nothing that was handed to this socket waits to be written or proven any more, and no request
        /// for its answer.
        case drained(SocketID)
        /// After `drain`: the same, but for requests that wait for their answers.
        case flushed(SocketID)
        /// The process runs again after it was stopped, or the machine after it slept.
        case woke
    }

    /// What is to be done about it.
    package enum Action: Equatable, Sendable {
        /// Ask for the URL of this socket; report `urlFound`, or that the socket failed.
        case askForURL(SocketID)
        /// Open a socket, to the listed URL of `urlIndex` or to the one that was found, and report what it says under
        /// this id.
        case dial(SocketID)
        /// Open a socket to this URL, which came in a message.
        case dialElsewhere(SocketID, WebSocketURL)
        /// Send a close frame; nothing but pongs may follow it.
        case sendClose(SocketID, code: UInt16?, reason: String)
        case sendPing(SocketID, [UInt8])
        case sendPong(SocketID, [UInt8])
        /// Send a heartbeat that is a message, in front of what waits in the outbox.
        case sendHeartbeat(SocketID, Message)
        /// Send what a message is answered with, in front of what waits in the outbox; reported written as this.
        case sendReply(SocketID, Message, as: OwnFrame)
        /// Send what a step of `onOpen` says.
        case sendScript(SocketID, Message)
        /// Another socket is to take the place of this one: hold the outbox, and report `drained`.
        case drain(SocketID)
        /// That is not to be after all.
        case undrain(SocketID)
        /// This socket carries the messages from now on; what another one has not written goes back into the outbox.
        case adopt(SocketID)
        /// Close the socket at once, after one try to write what is buffered, or ask for its URL no longer; it reports
        /// nothing any more.
        case drop(SocketID)
        /// Report `timerFired` once, no earlier than this from now.
        case startTimer(TimerID, after: Duration)
        case cancelTimer(TimerID)
        /// Put this into the event log.
        case record(Lifecycle)
        /// Warn of this in the log: a sentence without a word of any message.
        case warn(String)
        /// Say in the log that it is not dialled again until a user connects it, and why: a sentence of ours.
        case sayFinal(String)
        /// Put this into the event log.
        case deliver(Message, topic: String?, from: SocketID)
        /// This came and is not for the event log, but may be what a request waits for; where it answers a heartbeat
        /// only one that looks for its value, since nobody else's next message is our own affair.
        case passOver(Message, isAnswer: Bool, from: SocketID)
        /// The outbox may flow into the live socket.
        case ready
        /// The outbox must hold; what it handed out may still be written.
        case notReady
        /// The socket is gone: what it has not written goes back into the outbox. The code is that of the
        /// peer's close frame, if it sent one.
        case returnInFlight(closeCode: UInt16?)
        /// After `stopRequested`: no socket and no timer is left, and no action follows.
        case finished
    }
}
