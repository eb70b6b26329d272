package import BridgeCore
package import WebSocketProtocol

/// Who answers the requests that the server receives; called on the loop.
package protocol HTTPHandler: AnyObject {
    /// Names what `admit` goes by: another number whenever it might decide otherwise about the same head.
    var rules: Int { get }
    /// Decides about a request when its head is there, before any of its body is read.
    ///
    /// By the head and the `rules` alone: the server asks once about heads that are the same.
    func admit(_ head: RequestHead) -> Admission
    /// Does the work of a request whose body is there in full.
    func serve(_ request: AdmittedRequest, body: [UInt8], from head: RequestHead) -> HTTPAnswer
}

/// What a handler does with a request.
package enum HTTPAnswer {
    case response(HTTPResponse)
    /// An answer that is not known yet: `begin` gets what takes it, and may give it at once.
    case later(begin: (HeldAnswer) -> Void)
    /// A body without end: `open` gets the stream once the head is out.
    case stream(fields: [HTTPField], open: (any StreamChannel) -> Void)
    /// A body that is made while the client takes it, with the status 200.
    case pieces(fields: [HTTPField], source: any BodySource)
}

/// What makes a body piece by piece, so that a large one takes no memory and keeps nobody waiting; called on the loop.
package protocol BodySource: AnyObject {
    /// The next piece, which is not empty; nil at the end.
    func next() -> [UInt8]?
}
