import Emulation
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Files to be written into a folder: all of them, or none where one is in the way.
struct StarterFolder {
    private let root: String
    private var files: [(path: String, bytes: [UInt8])] = []

    init(_ root: String) {
        self.root = root
    }

    /// Plans a file at a path below the folder.
    mutating func add(_ bytes: [UInt8], at path: String) {
        files.append((Self.join(root, path), bytes))
    }

    /// The files with the folder's path, as they were added.
    var paths: [String] { files.map(\.path) }

    /// A path below a folder.
    static func join(_ folder: String, _ path: String) -> String {
        if folder == "." { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }

    /// Writes all files.
    ///
    /// - Throws: what is in the way; then nothing is written, or what was written is gone again.
    func write() throws(Misuse) {
        try checkRoom()
        var made: [Made] = []
        do throws(Misuse) {
            try make(noting: &made)
        } catch {
            for each in made.reversed() { each.remove() }
            throw error
        }
    }

    private func checkRoom() throws(Misuse) {
        let present = paths.filter(Files.exists)
        guard present.isEmpty else {
            let (are, them) = present.count > 1 ? ("are", "them") : ("is", "it")
            throw Misuse(
                "\(Nearest.list(present)) \(are) there already, and nothing is overwritten; move \(them) away, or name another folder."
            )
        }
        for folder in folders where Files.exists(folder) && !FileSystem.isFolder(folder) {
            throw Misuse("\(folder) is not a folder, and files are to be written into it; name another folder.")
        }
    }

    /// A folder or file that was made, and can be removed again.
    private struct Made {
        let path: String
        let isFolder: Bool

        func remove() { _ = isFolder ? rmdir(path) : unlink(path) }
    }

    private func make(noting made: inout [Made]) throws(Misuse) {
        for folder in folders where !FileSystem.isFolder(folder) {
            try Self.rephrase(folder) { () throws(Files.Failure) in try Files.makeFolder(folder) }
            made.append(Made(path: folder, isFolder: true))
        }
        for (path, bytes) in files {
            try Self.rephrase(path) { () throws(Files.Failure) in
                // `link` fails where a file has come into being in the meantime.
                try Files.put(bytes, at: path) { new, final in link(new, final) == 0 ? unlink(new) : -1 }
            }
            made.append(Made(path: path, isFolder: false))
        }
    }

    /// All folders above the files, outer ones first.
    private var folders: [String] {
        var folders: [String] = []
        for (path, _) in files {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            for count in parts.indices {
                let folder = parts[...count].joined(separator: "/")
                if !folder.isEmpty, !folders.contains(folder) { folders.append(folder) }
            }
        }
        return folders
    }

    private static func rephrase(_ path: String, _ call: () throws(Files.Failure) -> Void) throws(Misuse) {
        do {
            try call()
        } catch {
            throw Misuse("\(path) cannot be written: \(error). Nothing was left behind.")
        }
    }
}
