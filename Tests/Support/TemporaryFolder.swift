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
