import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum ReportFile {
    /// Checks that the report can be written, before the run.
    static func check(_ path: String) throws(Misuse) {
        try rephrase(path) { () throws(Files.Failure) in close(try Files.descriptor(of: path, O_WRONLY | O_CREAT)) }
    }

    static func write(_ text: String, to path: String) throws(Misuse) {
        try rephrase(path) { () throws(Files.Failure) in
            let descriptor = try Files.descriptor(of: path, O_WRONLY | O_CREAT | O_TRUNC)
            defer { close(descriptor) }
            try Files.put(Array(text.utf8), into: descriptor)
        }
    }

    private static func rephrase(_ path: String, _ call: () throws(Files.Failure) -> Void) throws(Misuse) {
        do {
            try call()
        } catch {
            throw Misuse("the report \(path) cannot be written: \(error)")
        }
    }
}
