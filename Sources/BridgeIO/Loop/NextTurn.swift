internal import CUV

/// Runs a body once in the next turn of the loop, whenever it is asked to; letting go of it ends that.
///
/// For work that is cut into pieces, so that others get their turn in between: while a piece is due the loop
/// looks for input and does not wait for it.
@safe package final class NextTurn {
    private let handle: Handle<uv_idle_t>
    private let body: () -> Void

    package init(loop: Loop, _ body: @escaping () -> Void) {
        self.body = body
        unsafe handle = Handle { idle in unsafe uv_idle_init(loop.pointer, idle) }
        unsafe handle.attach(self)
    }

    /// Asks for the body to run; again and again is as good as once.
    package func schedule() {
        unsafe uv_idle_start(handle.pointer, turnCame)
    }

    fileprivate func fire() {
        unsafe uv_idle_stop(handle.pointer)
        body()
    }
}

private nonisolated func turnCame(_ idle: UnsafeMutablePointer<uv_idle_t>?) {
    guard let turn = unsafe owner(of: idle?.pointee.data, as: NextTurn.self) else { return }
    onLoop(with: turn) { $0.fire() }
}
