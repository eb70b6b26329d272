internal import CUV

/// Runs a body in every turn of the loop, just before it waits; letting go of it ends that.
///
/// It does not keep the loop running.
@safe package final class BeforeWaiting {
    private let handle: Handle<uv_prepare_t>
    fileprivate let body: () -> Void

    package init(loop: Loop, _ body: @escaping () -> Void) {
        self.body = body
        unsafe handle = Handle { hook in unsafe uv_prepare_init(loop.pointer, hook) }
        unsafe handle.attach(self)
        unsafe uv_prepare_start(handle.pointer) { hook in
            guard let hook = unsafe owner(of: hook?.pointee.data, as: BeforeWaiting.self) else { return }
            onLoop(with: hook) { $0.body() }
        }
        unsafe uv_unref(handle.base)
    }
}

/// Runs a body in every turn of the loop, once all the input that was ready has been handled.
///
/// Letting go of it ends that; it does not keep the loop running.
@safe package final class AfterInput {
    private let handle: Handle<uv_check_t>
    fileprivate let body: () -> Void

    package init(loop: Loop, _ body: @escaping () -> Void) {
        self.body = body
        unsafe handle = Handle { hook in unsafe uv_check_init(loop.pointer, hook) }
        unsafe handle.attach(self)
        unsafe uv_check_start(handle.pointer) { hook in
            guard let hook = unsafe owner(of: hook?.pointee.data, as: AfterInput.self) else { return }
            onLoop(with: hook) { $0.body() }
        }
        unsafe uv_unref(handle.base)
    }
}
