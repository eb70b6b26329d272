internal import BridgeCore
internal import CMicroHTTPD
internal import WebSocketProtocol

/// A short answer in the daemon's form, whose body is replaced when it is used again.
///
/// To make one and throw it away costs more than all else that a short answer needs, as the daemon copies every
/// field several times. The daemon reads the body until it is done with the request and never writes to it.
@safe nonisolated final class PreparedAnswer {
    private let ownFields: [HTTPField]
    private let addedFields: [HTTPField]
    private let body: UnsafeMutableRawBufferPointer
    let content: OpaquePointer

    fileprivate init?(_ response: HTTPResponse) {
        let body = UnsafeMutableRawBufferPointer.allocate(byteCount: response.body.count, alignment: 1)
        let content = unsafe MHD_create_response_from_buffer(
            body.count,
            body.baseAddress,
            .RESPMEM_PERSISTENT
        )
        guard let content = unsafe content else {
            unsafe body.deallocate()
            return nil
        }
        ownFields = response.ownFields
        addedFields = response.addedFields
        unsafe self.body = body
        unsafe self.content = unsafe content
        unsafe HTTPServer.add(response.fields, to: content)
        fill(response)
    }

    deinit {
        unsafe MHD_destroy_response(content)
        unsafe body.deallocate()
    }

    /// Whether only the body differs, if anything does.
    fileprivate func suits(_ response: HTTPResponse) -> Bool {
        // Mostly these lists are shared, which is seen at a glance.
        unsafe body.count == response.body.count && ownFields == response.ownFields
            && addedFields == response.addedFields
    }

    fileprivate func fill(_ response: HTTPResponse) {
        unsafe body.copyBytes(from: response.body)
    }
}

/// The prepared answers that no request uses at the moment.
nonisolated struct PreparedAnswers {
    /// Kinds of answers are few, but a group of messages that was stored is answered in one turn, each before the first
    /// one is out.
    private static let capacity = 128
    /// Longer bodies seldom have the same length again.
    private static let longestBody = 256

    private var idle: [PreparedAnswer] = []

    /// The answer, prepared; nil if it is not of the kind that comes again.
    ///
    /// It belongs to one request until it is put back.
    mutating func take(_ response: HTTPResponse) -> PreparedAnswer? {
        guard !response.closesConnection, response.body.count <= PreparedAnswers.longestBody
        else { return nil }
        guard let place = idle.lastIndex(where: { $0.suits(response) })
        else { return PreparedAnswer(response) }
        let answer = idle.remove(at: place)
        answer.fill(response)
        return answer
    }

    /// The daemon is done with the request that used the answer.
    mutating func putBack(_ answer: PreparedAnswer) {
        if idle.count == PreparedAnswers.capacity { idle.removeFirst() }
        idle.append(answer)
    }
}
