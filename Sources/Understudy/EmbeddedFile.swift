internal import CEmbedded

/// A file that is part of the program, so that it is wherever the program is.
struct EmbeddedFile: Sendable {
    let name: String
    let bytes: [UInt8]

    /// The files of a folder: `page` or `control`.
    static func all(in folder: String) -> [EmbeddedFile] {
        (0..<embedded_file_count()).compactMap { index in
            let file = embedded_file_at(index)
            let path = String(cString: file.path)
            guard path.hasPrefix(folder + "/") else { return nil }
            return EmbeddedFile(
                name: String(path.dropFirst(folder.utf8.count + 1)),
                bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
        }
    }
}
