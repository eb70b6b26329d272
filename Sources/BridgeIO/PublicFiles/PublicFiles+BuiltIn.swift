package import BridgeCore
internal import CPublicFiles

extension PublicFiles {
    /// The page as it was when the program was built.
    package nonisolated static var builtIn: PublicFiles {
        get throws(Overflow) {
            var files = PublicFiles()
            var index = 0
            while let file = unsafe wsbridge_public_file_at(index) {
                // The bytes are constants of the program.
                let bytes = unsafe UnsafeBufferPointer(start: file.pointee.bytes, count: file.pointee.count)
                try unsafe files.add([String(cString: file.pointee.name)], Array(bytes))
                index += 1
            }
            return files
        }
    }
}
