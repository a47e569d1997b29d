import Foundation

/// The built program, run as a user runs it.
struct Program {
    /// The output of a run and how it ended.
    struct Run {
        let status: Int32
        let output: String
        let complaint: String
    }

    /// The program is next to the tests in the build folder.
    static var path: String {
        #if canImport(Darwin)
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }.map {
                $0.bundleURL.deletingLastPathComponent().appending(path: "understudy").path
            } ?? "understudy"
        #else
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "understudy").path
        #endif
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - input: the content of standard input.
    ///   - environment: variables besides `PATH`.
    ///   - folder: the working directory; an empty one, so that nothing of this repository is picked up by chance.
    static func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder = TemporaryFolder()
    ) throws -> Run {
        try run(arguments, input: input, environment: environment, in: folder)
    }

    /// Runs a command to its end; see ``run(_:input:environment:in:)``.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder = TemporaryFolder()
    ) throws -> Run {
        let process = process(arguments, environment, in: folder)
        let (output, complaint, stdin) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = complaint
        process.standardInput = stdin
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        // The output of these commands fits into a pipe, so one is read after the other.
        let texts = [output, complaint].map {
            String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return Run(status: process.terminationStatus, output: texts[0], complaint: texts[1])
    }

    /// Nothing of the developer's own settings, but the change that Tests/Mutants put in force.
    static let environment = ["PATH": "/usr/bin:/bin"].merging(
        ProcessInfo.processInfo.environment.filter { $0.key == "UNDERSTUDY_MUTANT" }
    ) { $1 }

    /// Between two looks at what another process does, which needs the processor meanwhile.
    static func pause() async throws { try await Task.sleep(for: .milliseconds(5)) }

    static func process(
        _ arguments: [String], _ environment: [String: String], in folder: TemporaryFolder
    ) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = Self.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder.url
        return process
    }
}

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init() {
        url = FileManager.default.temporaryDirectory.appending(path: "understudy-test-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.path }

    /// Writes a file and creates its parent folders.
    func write(_ text: String, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: url.appending(path: path)), as: UTF8.self)
    }
}
