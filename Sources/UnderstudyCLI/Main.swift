import ArgumentParser
import Contracts
import Dispatch
import Emulation
import HTTPEngine
import Synchronization
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
            Output.finish()
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

    private static func end(_ code: Int32) -> Never {
        Output.finish()
        // Not exit(), which takes OpenSSL down while the thread that prepares keys may still use it.
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
