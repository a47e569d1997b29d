import Dispatch
import JSON
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// How commands write.
enum Output {
    /// What writes for a command that nothing may hold up.
    private struct Writers: Sendable {
        let output: LineWriter
        let complaints: LineWriter
    }

    private static let writers = Mutex<Writers?>(nil)
    /// How long an end waits for a reader of what was written before. ours.
    private static let farewell = DispatchTimeInterval.seconds(2)

    /// Has nobody wait any more for those who read standard output and standard error: threads write from now on.
    ///
    /// - Parameter notice: the line that tells how many lines were dropped.
    /// - Returns: the writer to standard error.
    static func stopWaiting(_ notice: @escaping @Sendable (Int) -> String) -> LineWriter {
        let complaints = LineWriter(STDERR_FILENO, notice: notice)
        // Where both are one, one writer keeps the order of the lines.
        let output = isSameFile(STDOUT_FILENO, STDERR_FILENO) ? complaints : LineWriter(STDOUT_FILENO, notice: notice)
        writers.withLock { $0 = Writers(output: output, complaints: complaints) }
        return complaints
    }

    /// Waits until what commands wrote has gone out, for a short time at most; to be called before the process ends.
    static func finish() {
        guard let writers = writers.withLock({ $0 }) else { return }
        let deadline = DispatchTime.now() + farewell
        writers.complaints.finish(by: deadline)
        writers.output.finish(by: deadline)
    }

    private static func isSameFile(_ one: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        guard fstat(one, &first) == 0, fstat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Writes a line to standard output at once, also when it is a pipe.
    static func line(_ text: String = "") { write(text + "\n", to: STDOUT_FILENO) }

    /// Writes a line to standard error.
    static func complaint(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    /// Writes text as it is.
    static func text(_ bytes: [UInt8]) { write(bytes[...], to: STDOUT_FILENO) }

    /// Writes a value for programs.
    static func json(_ value: JSON) { line(value.prettyText) }

    /// Ends the command with a complaint when not all that it wrote has arrived.
    ///
    /// A reader that has gone, such as `head`, has what it wanted. What a server writes, nobody waits for, and it is not
    /// looked at.
    static func checkArrival() {
        let code = firstFailure.load(ordering: .relaxed)
        guard code != 0, code != EPIPE else { return }
        complaint("understudy: standard output cannot be written: \(String(cString: strerror(code))).")
        exit(2)
    }

    /// The first error of writing to standard output; 0 while there was none.
    private static let firstFailure = Atomic<Int32>(0)

    /// Writes rows with aligned columns.
    static func table(_ rows: [[String]]) {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            line(cells.joined(separator: "  "))
        }
    }

    /// The text without control characters, C1 and the separators of lines among them, so that what a client sent can
    /// neither write lines of its own nor steer a terminal.
    static func printable(_ text: String) -> String {
        // Nearly every line is plain, and to look at the properties of scalars takes longer than to write it.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        return text.unicodeScalars.reduce(into: "") { shown, scalar in
            switch scalar.value {
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: shown += scalar.escaped(asASCII: true)
            default: shown.unicodeScalars.append(scalar)
            }
        }
    }

    /// One write a line, so that lines of several threads never mix. A reader that has gone or a full disk loses the
    /// line, and that must not end a server.
    private static func write(_ text: String, to descriptor: Int32) {
        guard let writers = writers.withLock({ $0 }) else { return write(Array(text.utf8)[...], to: descriptor) }
        (descriptor == STDERR_FILENO ? writers.complaints : writers.output).write(text)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
                let written = rest.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
            #else
                let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            #endif
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                if descriptor == STDOUT_FILENO { note(errno) }
                return
            }
            rest = rest.dropFirst(written)
        }
    }

    private static func note(_ code: Int32) {
        _ = firstFailure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
    }
}
