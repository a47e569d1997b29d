import Foundation
import HTTPEngine
import HTTPTypes
import JSON
import Synchronization
import Testing
import Tokens
import Wire

struct Program {
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

    /// The words of a line, none of which has a blank.
    static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

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

/// A running `serve` that the test stops when it is done.
struct RunningServer {
    let process: Process
    let folder: TemporaryFolder
    let output: Pipe
    let log: Pipe
    /// Its base URL without TLS.
    let base: String
    /// Its base URL with TLS, if enabled.
    let secureBase: String?

    init(
        _ options: String..., environment: [String: String] = [:], in folder: TemporaryFolder = TemporaryFolder()
    ) async throws {
        try await self.init(options, environment: environment, in: folder)
    }

    init(
        _ options: [String], environment: [String: String] = [:], in folder: TemporaryFolder = TemporaryFolder()
    ) async throws {
        self.folder = folder
        (output, log) = (Pipe(), Pipe())
        process = Program.process(["serve", "--port", "0", "--port-file", "ports"] + options, environment, in: folder)
        process.standardOutput = output
        process.standardError = log
        try process.run()
        let ports = folder.url.appending(path: "ports").path
        let deadline = ContinuousClock.now + .seconds(300)
        // The file appears, complete, once the server accepts connections.
        while !FileManager.default.fileExists(atPath: ports), process.isRunning, ContinuousClock.now < deadline {
            try await Program.pause()
        }
        let lines = try folder.read("ports").split(separator: "\n").map { $0.split(separator: " ") }
        base = "http://127.0.0.1:\(try #require(lines.first { $0[0] == "http" })[1])"
        secureBase = lines.first { $0[0] == "https" }.map { "https://127.0.0.1:\($0[1])" }
    }

    func stop() -> (status: Int32, output: String, log: String) {
        process.terminate()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, lines)
    }
}

/// A local server that publishes an issuer's discovery document and keys, and some that lead astray.
final class KeyServer: Sendable {
    /// Generated once for all tests, since a pair takes a tenth of a second.
    static let key = Result {
        var key = try SigningKey.generateRSA()
        key.id = key.thumbprint
        return key
    }

    private final class Handler: RequestHandler {
        let seen = Mutex<[String]>([])

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 0, answer: answer) }

        func answer(_ request: Request) -> Answer {
            seen.withLock { $0.append(String(request.path)) }
            return .ready(response(to: String(request.path), at: request.authority ?? ""))
        }

        private func response(to path: String, at authority: String) -> Response {
            let base = "http://\(authority)"
            switch path {
            case "/keys":
                let key = (try? KeyServer.key.get())?.publicJWK(algorithm: .rs256)
                return .json(["keys": .array(key.map { [$0] } ?? [])])
            case "/good/.well-known/openid-configuration":
                return .json(["issuer": .string(base + "/good"), "jwks_uri": .string(base + "/keys")])
            case "/moved/.well-known/openid-configuration":
                return moved(to: "/good/.well-known/openid-configuration")
            case "/absolute/.well-known/openid-configuration":
                return moved(to: base + "/good/.well-known/openid-configuration")
            case "/circle/.well-known/openid-configuration": return moved(to: path)
            case "/astray/.well-known/openid-configuration": return moved(to: "https://\(authority)\(path)")
            case "/host/.well-known/openid-configuration":
                return moved(to: "//\(authority)/good/.well-known/openid-configuration")
            case "/lost/.well-known/openid-configuration":
                var response = Response.json([:])
                response.transmission = Transmission(fault: .empty)
                return response
            default: return .json(["errorCode": "E0000007"], status: .notFound)
            }
        }

        private func moved(to location: String) -> Response { Response(status: .found, fields: [.location: location]) }
    }

    private let handler = Handler()
    private let server: Server
    let base: String

    init() throws {
        server = try Server(ServerConfiguration(listeners: [.init(port: 0)], loops: 1), handler: handler)
        base = "http://127.0.0.1:\(server.addresses[0].port)"
        server.start()
    }

    var seen: [String] { handler.seen.withLock { $0 } }
}
