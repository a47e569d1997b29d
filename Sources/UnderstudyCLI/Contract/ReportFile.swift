import Foundation

enum ReportFile {
    /// Checks that the report can be written, before the run.
    static func check(_ path: String) throws(Misuse) {
        try rephrase(path) {
            let file = URL(filePath: path)
            if !FileManager.default.fileExists(atPath: path) { try Data().write(to: file) }
            try FileHandle(forWritingTo: file).close()
        }
    }

    static func write(_ text: String, to path: String) throws(Misuse) {
        try rephrase(path) { try Data(text.utf8).write(to: URL(filePath: path)) }
    }

    private static func rephrase(_ path: String, _ call: () throws -> Void) throws(Misuse) {
        do {
            try call()
        } catch {
            throw Misuse("the report \(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
