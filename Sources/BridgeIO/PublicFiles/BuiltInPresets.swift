internal import CPublicFiles

/// The presets as they were when the program was built.
package nonisolated enum BuiltInPresets {
    /// In YAML, by their names.
    package static var all: [String: [UInt8]] {
        var presets: [String: [UInt8]] = [:]
        var index = 0
        while let file = unsafe wsbridge_preset_at(index) {
            // The bytes are constants of the program.
            let bytes = unsafe UnsafeBufferPointer(start: file.pointee.bytes, count: file.pointee.count)
            unsafe presets[String(cString: file.pointee.name)] = Array(bytes)
            index += 1
        }
        return presets
    }
}
