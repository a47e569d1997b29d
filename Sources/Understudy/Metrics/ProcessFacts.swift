import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What the system reports about this process.
struct ProcessFacts {
    let start: Moment
    /// The memory in use now.
    let residentBytes: Int

    /// Reads the facts from Linux' `/proc`; `nil` elsewhere.
    init?() {
        #if os(Linux)
            guard let words = Self.status(), words.count > 21, let ticks = Double(words[19]), let pages = Int(words[21])
            else { return nil }
            var sinceBoot = timespec()
            clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
            let age =
                Double(sinceBoot.tv_sec) + Double(sinceBoot.tv_nsec) / 1e9 - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
            start = Moment(unixSeconds: SandboxClock.machine.unixSeconds - age)
            residentBytes = pages * sysconf(Int32(_SC_PAGESIZE))
        #else
            return nil
        #endif
    }

    #if os(Linux)
        /// The words of `/proc/self/stat` after the program's name, which may contain blanks: the third field comes
        /// first.
        private static func status() -> [Substring]? {
            guard let file = fopen("/proc/self/stat", "r") else { return nil }
            defer { fclose(file) }
            var line = [UInt8](repeating: 0, count: 4096)
            let length = fread(&line, 1, line.count, file)
            let text = String(decoding: line[..<length], as: UTF8.self)
            return text.lastIndex(of: ")").map { text[$0...].dropFirst().split(separator: " ") }
        }
    #endif
}
