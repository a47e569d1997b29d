import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What commands need of files, by the system's own calls and in its own words: Foundation would be half of the program.
enum Files {
    /// Why the system refused a call.
    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        /// What made the last call of this thread fail.
        static var last: Failure { Failure(code: errno) }

        var description: String { String(cString: strerror(code)) }
    }

    /// The bytes of a file that an option names.
    ///
    /// - Parameter role: what the file is, for the complaint about one that cannot be read.
    static func read(_ path: String, _ role: String) throws(Misuse) -> [UInt8] {
        do {
            return try content(of: path)
        } catch {
            throw Misuse("\(role) \(path) cannot be read: \(error)")
        }
    }

    /// The bytes of a file.
    static func content(of path: String) throws(Failure) -> [UInt8] {
        let descriptor = try descriptor(of: path, O_RDONLY)
        defer { close(descriptor) }
        return try content(ofDescriptor: descriptor)
    }

    /// All that comes next where a descriptor stands.
    static func content(ofDescriptor descriptor: Int32) throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            guard let piece = FileSystem.piece(of: descriptor, atMost: 64 << 10) else { throw .last }
            if piece.isEmpty { return content }
            content += piece
        }
    }

    /// Writes all of it where a descriptor stands.
    static func put(_ bytes: [UInt8], into descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens a file, for this process alone.
    ///
    /// - Parameter mode: who may do what with a file that is made by this.
    static func descriptor(of path: String, _ flags: Int32, mode: mode_t = 0o666) throws(Failure) -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
        return descriptor
    }

    /// Writes a complete file beside its place, forces it to the disk, and has it put there.
    ///
    /// - Parameter place: puts the file of the first name in the place of the second; other results than 0 are failures.
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

    /// Makes a folder, and those above it, where there is none.
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
    /// Turns the error of a call that judges a file into a misuse that names the file.
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
