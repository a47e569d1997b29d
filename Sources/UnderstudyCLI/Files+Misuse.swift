import Understudy

extension Files {
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
