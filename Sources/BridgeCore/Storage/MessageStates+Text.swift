extension MessageStates {
    /// Its runs, as in `2 sent 1764542000123;1 queued`, each with the time of sending where there is one.
    package var text: String {
        lengths.map { count, state in
            let time = state.sentAt.map { " \($0.millisecondsSince1970)" } ?? ""
            return "\(count) \(state.name)\(time)"
        }
        .joined(separator: ";")
    }

    /// Reads what `text` writes, nothing else.
    package init?(text: some StringProtocol) {
        var read: [(Int, MessageState)] = []
        var total = 0
        for part in text.split(separator: ";", omittingEmptySubsequences: false) where !text.isEmpty {
            guard let (count, state) = MessageStates.run(part), count <= .max - total else { return nil }
            total += count
            read.append((count, state))
        }
        self.init(read)
        guard self.text == text else { return nil }
    }

    private static func run(_ text: some StringProtocol) -> (Int, MessageState)? {
        let words = text.split(separator: " ")
        guard words.count >= 2, let count = Int(words[0]), count > 0 else { return nil }
        switch (words[1], words.count) {
        case ("queued", 2): return (count, .queued)
        case ("expired", 2): return (count, .expired)
        case ("dropped", 2): return (count, .dropped)
        case ("sent", 3):
            guard let time = Int64(words[2]) else { return nil }
            return (count, .sent(at: WallTime(millisecondsSince1970: time)))
        default: return nil
        }
    }
}
