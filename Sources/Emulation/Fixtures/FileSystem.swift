#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What fixtures need of the file system, by the system's own calls: a start makes hundreds of them.
enum FileSystem {
    /// What became of reading a file.
    enum Reading {
        case content([UInt8])
        case absent
        case unreadable
    }

    /// Whether something of that name is there.
    static func holds(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The working directory.
    static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// The names in a folder, in no order; none if it is no folder.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }

    /// Reads a file.
    static func read(_ path: String) -> Reading {
        // The system would take the path to end there.
        guard !path.utf8.contains(0) else { return .absent }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .absent : .unreadable }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return .unreadable }
        var content: [UInt8] = []
        // A file may grow meanwhile, and some have no size.
        var room = Int(facts.st_size)
        repeat {
            guard let piece = piece(of: descriptor, atMost: max(room, 4096)) else { return .unreadable }
            if piece.isEmpty { return .content(content) }
            content += piece
            room = 0
        } while true
    }

    /// What comes next in a file, empty at its end; `nil` where it cannot be read.
    private static func piece(of descriptor: Int32, atMost count: Int) -> [UInt8]? {
        var failed = false
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var result = 0
            #if canImport(Darwin)
                repeat {
                    result = Darwin.read(descriptor, buffer.baseAddress, count)
                } while result < 0 && errno == EINTR
            #else
                repeat { result = Glibc.read(descriptor, buffer.baseAddress, count) } while result < 0 && errno == EINTR
            #endif
            failed = result < 0
            filled = max(result, 0)
        }
        return failed ? nil : piece
    }
}
