import ArgumentParser
import Contracts
import Dispatch
import Emulation
import HTTPEngine
import JSON
import Synchronization
import Tokens
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs the command line with its own exit codes: 0 done, 1 the answer is no, 2 misuse.
@main
enum Main {
    static func main() {
        do {
            var command = try requestedCommand()
            try command.run()
            Output.checkArrival()
        } catch let error as any WrongInput {
            fail("understudy: \(error)", code: 2)
        } catch let answer as AnswerIsNo {
            Output.checkArrival()
            if let message = answer.message { fail("understudy: \(message)", code: 1) }
            end(1)
        } catch {
            let message = UnderstudyCommand.fullMessage(for: error)
            guard UnderstudyCommand.exitCode(for: error) == .success else { fail(message, code: 2) }
            Output.line(message)
            Output.checkArrival()
        }
        end(0)
    }

    private static func requestedCommand() throws -> any ParsableCommand {
        let arguments = CommandLine.arguments.dropFirst()
        // With ArgumentParser, parsing takes a third of a start.
        if arguments.first == ServeCommand.configuration.commandName {
            ServeCommand.prepare()
            if let command = ServeCommand(plain: arguments.dropFirst()) { return command }
        }
        return try UnderstudyCommand.parseAsRoot()
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        Output.complaint(message)
        end(code)
    }

    fileprivate static func end(_ code: Int32) -> Never {
        Output.finish()
        // Not exit(), which takes OpenSSL down while a loop or the thread that prepares keys may still use it.
        _exit(code)
    }
}

struct UnderstudyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "understudy",
        abstract: "Stands in for the backends of a mobile app, verifies every token, and says why it refused.",
        discussion: """
            Example: understudy serve --port 8080

            Exit codes: 0 done, 1 the answer is no, 2 misuse.
            """,
        version: Emulator.version,
        subcommands: [
            InitCommand.self, ServeCommand.self, ExplainCommand.self, TokenCommand.self, RoutesCommand.self,
            FixturesCommand.self, AuthorityCommand.self, ContractCommand.self, DrillCommand.self, TryCommand.self,
            JournalCommand.self, CoverageCommand.self, SandboxCommand.self, ClockCommand.self, ScenarioCommand.self,
            StateCommand.self, HealthcheckCommand.self,
        ])
}

/// What was given is wrong: the description says what was found, where, and what would be right. Exit code 2.
protocol WrongInput: Error, CustomStringConvertible {}

extension CertificateAuthorityError: WrongInput {}
extension FixtureProblem: WrongInput {}
extension HurlProblem: WrongInput {}
extension ServerError: WrongInput {}
extension StateFile.Failure: WrongInput {}
extension TLSIdentityError: WrongInput {}

struct Misuse: WrongInput, StatedRefusal {
    let description: String

    /// A full stop after a question is left out: advice such as “did you mean …?” often ends the sentence.
    init(_ description: String) {
        self.description = description.hasSuffix("?.") ? String(description.dropLast()) : description
    }

    static func writing(_ place: String, _ ending: String = ".", _ call: () throws -> Void) throws(Misuse) {
        do {
            try call()
        } catch {
            throw Misuse("\(place) cannot be written: \(error)\(ending)")
        }
    }
}

/// The answer to the question is no. Exit code 1.
struct AnswerIsNo: Error {
    /// The message for standard error; `nil` when standard output says it all.
    var message: String?
}

extension Files {
    /// Whether standard input is a terminal, where nobody may be about to type.
    static var inputIsTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// The bytes of a file; `nil` if there is none.
    static func size(of path: String) -> Int? {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : nil
    }

    static func standardInput() throws(Failure) -> [UInt8] { try content(ofDescriptor: STDIN_FILENO) }

    /// - Parameter role: what the file is, for the error message.
    static func read(_ path: String, _ role: String) throws(Misuse) -> [UInt8] {
        do {
            return try content(of: path)
        } catch {
            throw Misuse("\(role) \(path) cannot be read: \(error)")
        }
    }
}

/// Waits for asynchronous work on the main thread.
///
/// The main function is synchronous: with an asynchronous one, the runtime has threads before its first line, which
/// would take SIGTERM's default action instead of leaving the signal to `serve`.
enum Waiting {
    static func until<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value, Failure>()
        Task {
            let result = await Result(work)
            outcome.value.withLock { $0 = result }
            done.signal()
        }
        while true {
            done.wait()
            if let result = outcome.value.withLock({ $0 }) { return try result.get() }
        }
    }

    private final class Outcome<Value: Sendable, Failure: Error>: Sendable {
        let value = Mutex<Result<Value, Failure>?>(nil)
    }
}

extension Result {
    init(_ work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

enum Output {
    /// The asynchronous writers of a command that must never block.
    private struct Writers: Sendable {
        let output: LineWriter
        let complaints: LineWriter
    }

    private static let writers = Mutex<Writers?>(nil)
    /// How long the end of the process waits for readers of earlier output. ours.
    private static let farewell = DispatchTimeInterval.seconds(2)

    /// From now on, writes on separate threads, so that a slow reader of standard output or standard error blocks
    /// nothing.
    ///
    /// - Parameter notice: the line that reports how many lines were dropped.
    /// - Returns: the writer to standard error.
    static func stopWaiting(_ notice: @escaping @Sendable (Int) -> String) -> LineWriter {
        let complaints = LineWriter(STDERR_FILENO, notice: notice)
        // If both are the same file, one writer keeps the lines in order.
        let output = isSameFile(STDOUT_FILENO, STDERR_FILENO) ? complaints : LineWriter(STDOUT_FILENO, notice: notice)
        writers.withLock { $0 = Writers(output: output, complaints: complaints) }
        return complaints
    }

    /// Waits briefly until all output is written; call it before the process ends.
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

    /// Writes a line to standard output immediately, even to a pipe; what no terminal needs is escaped.
    static func line(_ text: String = "") { write(escaped(text, from: 0x7F) + "\n", to: STDOUT_FILENO) }

    static func complaint(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    /// Whether standard error is a terminal, where somebody may watch the progress.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard output goes to a terminal that may show colours.
    static var showsColours: Bool { isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil }

    /// Replaces the line of progress on the terminal of standard error.
    static func progress(_ text: String) { write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

    static func text(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    /// Writes JSON; escapes occur only in strings, where they are JSON's.
    static func json(_ value: JSON, isPretty: Bool = true) {
        line(escaped(isPretty ? value.prettyText : value.text, from: 0x7F) { Lookalikes.escaped(String($0)) })
    }

    /// Ends the command with an error if not all of its output could be written.
    ///
    /// A closed pipe, such as to `head`, is fine. The output of a server is not checked.
    static func checkArrival() {
        let code = firstFailure.load(ordering: .relaxed)
        guard code != 0, code != EPIPE else { return }
        complaint("understudy: standard output cannot be written: \(String(cString: strerror(code))).")
        Main.end(2)
    }

    /// The first error when writing to standard output; 0 for none.
    private static let firstFailure = Atomic<Int32>(0)

    static func table(_ rows: [[String]]) {
        for text in lines(of: rows) { line(text) }
    }

    /// Rows with aligned columns, as lines.
    static func lines(of rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map(printable) }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            return cells.joined(separator: "  ")
        }
    }

    /// The text with control characters (C1 included), line separators and marks of direction escaped, so that clients
    /// can neither forge lines nor control a terminal.
    static func printable(_ text: String) -> String { escaped(text, from: 0) }

    private static func escaped(
        _ text: String, from first: UInt8, as escape: (Unicode.Scalar) -> String = { $0.escaped(asASCII: true) }
    ) -> String {
        // Nearly every line is plain, and inspecting scalars takes longer than writing it.
        if text.utf8.allSatisfy({ $0 < 0x7F && (first > 0 || $0 >= 0x20) }) { return text }
        return text.unicodeScalars.reduce(into: "") { $0 += steers($1, from: first) ? escape($1) : String($1) }
    }

    /// Whether a terminal obeys a character rather than showing it.
    private static func steers(_ scalar: Unicode.Scalar, from first: UInt8) -> Bool {
        switch scalar.value {
        case 0..<0x20: first == 0
        case 0x7F..<0xA0, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    static func quoted(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-./_:".contains($0)) }
        return isPlain && !text.isEmpty ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// One write per line, so that lines of several threads never mix. A closed pipe or a full disk loses the line but
    /// must not end a server.
    private static func write(_ text: String, to descriptor: Int32) {
        guard let writers = writers.withLock({ $0 }) else { return write(Array(text.utf8), to: descriptor) }
        (descriptor == STDERR_FILENO ? writers.complaints : writers.output).write(text)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        do {
            try Files.put(bytes, into: descriptor)
        } catch {
            if descriptor == STDOUT_FILENO { note(error.code) }
        }
    }

    private static func note(_ code: Int32) {
        _ = firstFailure.compareExchange(expected: 0, desired: code, ordering: .relaxed)
    }
}

enum ReportFile {
    /// Checks that the report can be written, before the run.
    static func check(_ path: String) throws(Misuse) {
        try Misuse.writing("the report \(path)", "") { close(try Files.descriptor(of: path, O_WRONLY | O_CREAT)) }
    }

    static func write(_ text: String, to path: String) throws(Misuse) {
        try Misuse.writing("the report \(path)", "") {
            let descriptor = try Files.descriptor(of: path, O_WRONLY | O_CREAT | O_TRUNC)
            defer { close(descriptor) }
            try Files.put(Array(text.utf8), into: descriptor)
        }
    }
}
