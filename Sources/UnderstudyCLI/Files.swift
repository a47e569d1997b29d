import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// File operations of commands, with system calls and the system's error messages. Foundation would double the size of
/// the program.
enum Files {
    /// The error of a system call.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        /// The error of this thread's last failed call.
        static var last: Failure { Failure(code: errno) }

        var description: String { String(cString: strerror(code)) }
    }

    /// Reads a file.
    ///
    /// - Parameter role: what the file is, for the error message.
    static func read(_ path: String, _ role: String) throws(Misuse) -> [UInt8] {
        do {
            return try content(of: path)
        } catch {
            throw Misuse("\(role) \(path) cannot be read: \(error)")
        }
    }

    /// Reads a file.
    static func content(of path: String) throws(Failure) -> [UInt8] {
        let descriptor = try descriptor(of: path, O_RDONLY)
        defer { close(descriptor) }
        return try content(ofDescriptor: descriptor)
    }

    /// Reads a descriptor to the end.
    static func content(ofDescriptor descriptor: Int32) throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            guard let piece = FileSystem.piece(of: descriptor, atMost: 64 << 10) else { throw .last }
            if piece.isEmpty { return content }
            content += piece
        }
    }

    /// Writes all bytes.
    static func put(_ bytes: [UInt8], into descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens a file; child processes do not inherit it.
    ///
    /// - Parameter mode: the permissions of a file that this creates.
    static func descriptor(of path: String, _ flags: Int32, mode: mode_t = 0o666) throws(Failure) -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
        return descriptor
    }

    /// Writes a complete temporary file beside the path, flushes it to disk, and moves it into place.
    ///
    /// - Parameter place: moves the first path to the second; returns 0 on success.
    static func put(
        _ bytes: [UInt8], at path: String, mode: mode_t = 0o666, place: (String, String) -> Int32 = { rename($0, $1) }
    ) throws(Failure) {
        let new = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        let descriptor = try descriptor(of: new, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        defer { close(descriptor) }
        do throws(Failure) {
            try put(bytes, into: descriptor)
            guard fsync(descriptor) == 0, place(new, path) == 0 else { throw .last }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Whether anything has that path, a link without a target included.
    static func exists(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    /// Creates a folder, and those above it, where none exists.
    static func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Failure) {
        let parts = path.split(separator: "/")
        if parts.count > 1, !FileSystem.isFolder(path) {
            try makeFolder((path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/"))
        }
        guard mkdir(path, mode) != 0 else { return }
        let failure = Failure.last
        guard FileSystem.isFolder(path) else { throw failure }
    }
}

extension Misuse {
    /// Turns an error about a file into a misuse that names the file.
    static func rephrase<Value, Failure: Error & CustomStringConvertible>(
        in path: String, _ call: () throws(Failure) -> Value
    ) throws(Misuse) -> Value {
        do {
            return try call()
        } catch {
            throw Misuse("\(path): \(error)")
        }
    }
}
