import Foundation

/// Reads the files that options name.
enum FileText {
    /// The bytes of a file.
    ///
    /// - Parameter role: what the file is, for the complaint about one that cannot be read.
    static func read(_ path: String, _ role: String) throws(Misuse) -> [UInt8] {
        do {
            return [UInt8](try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw Misuse("\(role) \(path) cannot be read: \(error.localizedDescription)")
        }
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
