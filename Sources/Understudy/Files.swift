import Emulation

#if canImport(Darwin)
    package import Darwin
#else
    package import Glibc
#endif

/// File operations of commands and of the kept state, with system calls and the system's error messages. Foundation would
/// double the size of the program.
package enum Files {
    package struct Failure: Error, CustomStringConvertible {
        package let code: Int32

        package static var last: Failure { Failure(code: errno) }

        package var description: String { String(cString: strerror(code)) }
    }

    package static func content(of path: String) throws(Failure) -> [UInt8] {
        let descriptor = try descriptor(of: path, O_RDONLY)
        defer { close(descriptor) }
        return try content(ofDescriptor: descriptor)
    }

    package static func content(ofDescriptor descriptor: Int32) throws(Failure) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            guard let piece = FileSystem.piece(of: descriptor, atMost: 64 << 10) else { throw .last }
            if piece.isEmpty { return content }
            content += piece
        }
    }

    package static func put(_ bytes: [UInt8], into descriptor: Int32) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last }
            rest = rest.dropFirst(count)
        }
    }

    /// Opens a file that child processes do not inherit.
    ///
    /// - Parameter mode: the permissions of a file that this creates.
    package static func descriptor(of path: String, _ flags: Int32, mode: mode_t = 0o666) throws(Failure) -> Int32 {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
        return descriptor
    }

    /// Writes a complete temporary file beside the path, flushes it to disk, and moves it into place.
    ///
    /// - Parameters:
    ///   - temporary: the path of the temporary file, on the same file system; a free one by default.
    ///   - place: moves the first path to the second; returns 0 on success.
    package static func put(
        _ bytes: [UInt8], at path: String, through temporary: String? = nil, mode: mode_t = 0o666,
        place: (String, String) -> Int32 = { rename($0, $1) }
    ) throws(Failure) {
        let new = temporary ?? "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16))"
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

    /// Writes a file as ``put(_:at:through:mode:place:)`` does, unless there is one: of several that write it at once, one
    /// does.
    package static func putFirst(_ bytes: [UInt8], at path: String, mode: mode_t) throws(Failure) {
        try put(bytes, at: path, mode: mode) { new, final in
            link(new, final) == 0 || errno == EEXIST ? unlink(new) : -1
        }
    }

    /// The file system's number of a file; `nil` if there is none.
    static func number(of path: String) -> UInt64? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? UInt64(facts.st_ino) : nil
    }

    /// Makes the changes of a folder's names durable. Some file systems do not support this, but contents are safe by
    /// then.
    package static func sync(_ folder: String) {
        guard let descriptor = try? descriptor(of: folder, O_RDONLY) else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Whether anything has that path, a link without a target included.
    package static func exists(_ path: String) -> Bool { number(of: path) != nil }

    /// Creates a folder, and those above it, where none exists.
    package static func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Failure) {
        let parts = path.split(separator: "/")
        if parts.count > 1, !FileSystem.isFolder(path) {
            try makeFolder((path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/"))
        }
        guard mkdir(path, mode) != 0 else { return }
        let failure = Failure.last
        guard FileSystem.isFolder(path) else { throw failure }
    }
}
