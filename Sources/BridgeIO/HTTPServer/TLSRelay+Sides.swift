/// How far each side of a client's connection has got.
extension TLSRelay {
    /// What the client sends.
    enum Inbound {
        /// Becomes ended or unwanted.
        case open
        /// The client has closed its side; final.
        case ended
        /// Nobody reads it any more; becomes ended.
        case unwanted
    }

    /// What it is sent.
    enum Outbound {
        /// Becomes ending.
        case open
        /// Nothing more comes, but not all of it is out. Becomes ended.
        case ending
        /// Our side is closed; final.
        case ended
    }
}
