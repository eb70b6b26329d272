internal import CUV
internal import Glibc

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
        /// Becomes closing or ending.
        case open
        /// Whoever writes has ended, and not all of what was written is encrypted yet. Becomes ending.
        case closing
        /// Nothing more comes, but not all of it is out. Becomes ended.
        case ending
        /// Our side is closed; final.
        case ended

        /// There may be more to encrypt.
        var hasMore: Bool {
            switch self {
            case .open, .closing: true
            case .ending, .ended: false
            }
        }
    }
    /// Something waits to be read from our end of the pair, its end included.
    var hasInput: Bool {
        var byte: UInt8 = 0
        return unsafe recv(inner, &byte, 1, WSB_MSG_DONTWAIT | WSB_MSG_PEEK) >= 0
    }
}
