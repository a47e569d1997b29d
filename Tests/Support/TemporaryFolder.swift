import Foundation

/// A folder that is removed with its last reference.
package final class TemporaryFolder: Sendable {
    /// The folder.
    package let path: String

    /// A folder with these files.
    package init(_ files: [String: String] = [:]) throws {
        path = FileManager.default.temporaryDirectory.path + "/understudy-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, to: name) }
    }

    /// A folder with the same files.
    package func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        return copy
    }

    /// The files in the folder and below, by their paths there.
    package var files: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: path).filter {
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder)
                    && !isFolder.boolValue
            }.sorted()
        }
    }

    /// The text of a file in the folder or below.
    package func text(of name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    /// Writes a text to a file in the folder or below.
    package func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Writes bytes to a file in the folder.
    package func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
