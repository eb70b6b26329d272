internal import CSQLite

/// A prepared statement of a `Database`, for the thread that uses that; it may outlive it.
@safe final class Statement {
    private let handle: OpaquePointer
    private let path: String

    /// Takes a statement over, which is finalised with this value.
    init(_ handle: OpaquePointer, path: String) {
        unsafe self.handle = handle
        self.path = path
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    // MARK: Running

    /// Runs it to its end with these values, and with `blob` behind them.
    func run(_ values: Int64?..., blob: [UInt8]? = nil) throws(StorageError) {
        bind(values)
        try finish(blob, at: values.count + 1)
    }

    /// Runs it to its end with a text in front of the values.
    func run(text: String?, _ values: Int64?..., blob: [UInt8]? = nil) throws(StorageError) {
        bind(text, at: 1)
        bind(values, from: 2)
        try finish(blob, at: values.count + 2)
    }

    /// Has it begin anew with these values; `next` gives its rows.
    func begin(_ values: Int64...) {
        unsafe sqlite3_reset(handle)
        bind(values)
    }

    /// Whether there is another row, whose columns may be read until the next call.
    func next() throws(StorageError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(handle)
            return false
        default: throw failure()
        }
    }

    /// Leaves rows that are not wanted; a statement that is not at its end keeps others from going on.
    func end() {
        unsafe sqlite3_reset(handle)
    }

    private func finish(_ blob: [UInt8]?, at index: Int) throws(StorageError) {
        let status: CInt
        if let blob {
            // Lent until it has run, which is within this call.
            status = unsafe blob.withUnsafeBytes { bytes in
                // An empty array has no address, which would make it NULL.
                if let start = bytes.baseAddress {
                    unsafe sqlite3_bind_blob64(handle, CInt(index), start, UInt64(bytes.count), nil)
                } else {
                    unsafe sqlite3_bind_zeroblob(handle, CInt(index), 0)
                }
                return unsafe sqlite3_step(handle)
            }
        } else {
            status = unsafe sqlite3_step(handle)
        }
        defer {
            unsafe sqlite3_reset(handle)
            // What was lent is not for longer; all else is bound anew each time.
            if blob != nil { unsafe sqlite3_clear_bindings(handle) }
        }
        guard status == SQLITE_DONE || status == SQLITE_ROW else { throw failure() }
    }

    private func failure() -> StorageError {
        let connection = unsafe sqlite3_db_handle(handle)
        let failure = unsafe StorageError(
            code: sqlite3_extended_errcode(connection),
            systemError: sqlite3_system_errno(connection),
            path: path
        )
        unsafe sqlite3_reset(handle)
        return failure
    }

    // MARK: Values

    private func bind(_ values: [Int64?], from first: CInt = 1) {
        for (index, value) in zip(first..., values) {
            if let value {
                unsafe sqlite3_bind_int64(handle, index, value)
            } else {
                unsafe sqlite3_bind_null(handle, index)
            }
        }
    }

    /// Has a number stand at a place, until another one does.
    func bind(_ number: Int64, at index: CInt) {
        unsafe sqlite3_bind_int64(handle, index, number)
    }

    /// Has a blob stand at a place, until another one does: a copy, in memory that the statement keeps.
    func bind(copyOf blob: [UInt8], at index: CInt) {
        // SQLITE_TRANSIENT, which is a macro that Swift does not see: SQLite makes a copy.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe blob.withUnsafeBytes { bytes in
            // An empty array has no address, which would make it NULL.
            if let start = bytes.baseAddress {
                _ = unsafe sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), copied)
            } else {
                _ = unsafe sqlite3_bind_zeroblob(handle, index, 0)
            }
        }
    }

    /// Has a text stand at a place, which is copied.
    func bind(_ text: String?, at index: CInt) {
        guard let text else {
            unsafe sqlite3_bind_null(handle, index)
            return
        }
        // SQLITE_TRANSIENT, which is a macro that Swift does not see: SQLite makes a copy.
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        unsafe sqlite3_bind_text(handle, index, text, CInt(text.utf8.count), copied)
    }

    func integer(_ column: CInt) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    func isNull(_ column: CInt) -> Bool {
        unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    func text(_ column: CInt) -> String? {
        isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
    }

    /// A copy of a text or blob; empty for NULL.
    func bytes(_ column: CInt) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
