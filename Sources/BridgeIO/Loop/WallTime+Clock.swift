package import BridgeCore
// Where its header is read before Glibc's, C's `timespec` counts as being from there.
internal import CUV
internal import Glibc

extension WallTime {
    /// The time of day, for people and records.
    package static var now: WallTime {
        var now = timespec()
        // For people and records alone.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return WallTime(millisecondsSince1970: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
    }
}
