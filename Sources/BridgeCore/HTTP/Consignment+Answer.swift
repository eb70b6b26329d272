extension Consignment {
    /// What a request for these messages is answered now, each with its state.
    ///
    /// 200 when all were sent, 202 while some wait, 409 when one is lost. Several (`isList`) are an array.
    package func answer(isList: Bool) -> HTTPResponse {
        let status: Int
        switch verdict {
        case .lost(let id, let state): return HTTPResponse(Problem.lost(id, state))
        case .open: status = 202
        case .sent: status = 200
        }
        return HTTPResponse(status: status) { json in
            if isList {
                json.member("messages") { json in
                    json.array { json in
                        for item in items { json.element { $0.object { item.write(to: &$0) } } }
                    }
                }
            } else {
                for item in items { item.write(to: &json) }
            }
        }
    }
}

extension Consignment.Item {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("id", plain: id.appendText)
        json.member("state", state.name)
        if let time = state.sentAt { json.member("sentAt", time.text) }
    }
}
