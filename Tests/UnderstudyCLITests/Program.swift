import Emulation
import Expectations
import Foundation
import HTTPEngine
import HTTPTypes
import JSON
import Synchronization
import Testing
import Tokens
import Understudy
import Wire

struct Program {
    struct Run {
        let status: Int32
        let output: String
        let complaint: String

        /// A server's, which is on standard error like a complaint.
        var log: String { complaint }

        @discardableResult
        func exits(_ code: Int32, sourceLocation: SourceLocation = #_sourceLocation) -> Run {
            expect(status, is: code, output + complaint, sourceLocation: sourceLocation)
            return self
        }

        /// Expects exit code 0, and no complaint.
        @discardableResult
        func succeeds(sourceLocation: SourceLocation = #_sourceLocation) -> Run {
            expect(complaint, is: "", output, sourceLocation: sourceLocation)
            return exits(0, sourceLocation: sourceLocation)
        }

        /// Expects misuse: exit code 2, no output, and a complaint that begins so, or is this alone if its line ends.
        func refuses(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
            exits(2, sourceLocation: sourceLocation)
            expect(output, is: "", sourceLocation: sourceLocation)
            let line = "understudy: " + expected
            let found = line.hasSuffix("\n") ? complaint : String(complaint.prefix(line.count))
            expect(found, is: line, complaint, sourceLocation: sourceLocation)
        }
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

    /// The text of an installed fixture.
    static func fixture(_ name: String) throws -> String {
        try String(contentsOfFile: #require(FixtureStore.installedFolder) + "/" + name, encoding: .utf8)
    }

    /// Runs a command to its end.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - input: the content of standard input.
    ///   - environment: variables besides `PATH`.
    ///   - folder: the working directory; an empty one, so that nothing of this repository is picked up by chance.
    ///   - shell: a script that is run instead, with the program as `$0` and its arguments as `$@`.
    static func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder = TemporaryFolder()
    ) throws -> Run {
        try run(arguments, input: input, environment: environment, in: folder)
    }

    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        in folder: TemporaryFolder = TemporaryFolder(), under shell: String? = nil
    ) throws -> Run {
        let process = process(arguments, environment, in: folder, under: shell)
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
        _ arguments: [String], _ environment: [String: String], in folder: TemporaryFolder, under shell: String?
    ) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: shell == nil ? path : "/bin/sh")
        process.arguments = (shell.map { ["-c", $0, path] } ?? []) + arguments
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

    convenience init(_ files: [String: String]) throws {
        self.init()
        for (path, text) in files { try write(text, to: path) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path }

    /// The names in it, or in a folder below it.
    func names(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path + "/" + path).sorted()
    }

    /// Writes a file and creates its parent folders.
    func write(_ text: String, to path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    func read(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: url.appending(path: path)), as: UTF8.self)
    }

    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: url.path + "/" + path, withDestinationPath: target)
    }

    func target(of link: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: url.path + "/" + link)
    }

    func permissions(of path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path + "/" + path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }
}

/// A running `serve`, which ends with its last reference.
final class RunningServer: Sendable {
    let process: Process
    let folder: TemporaryFolder
    let output: Pipe
    let log: Pipe
    let port: String
    /// Its base URL without TLS.
    let base: String
    /// Its base URL with TLS, if enabled.
    let secureBase: String?

    convenience init(
        _ options: String..., environment: [String: String] = [:], in folder: TemporaryFolder = TemporaryFolder()
    ) async throws {
        try await self.init(options, environment: environment, in: folder)
    }

    init(
        _ options: [String], environment: [String: String] = [:], in folder: TemporaryFolder = TemporaryFolder(),
        under shell: String? = nil
    ) async throws {
        self.folder = folder
        (output, log) = (Pipe(), Pipe())
        process = Program.process(
            ["serve", "--port", "0", "--port-file", "ports"] + options, environment, in: folder, under: shell)
        process.standardOutput = output
        process.standardError = log
        let ports = folder.url.appending(path: "ports").path
        // A killed server has left its own.
        try? FileManager.default.removeItem(atPath: ports)
        try process.run()
        let deadline = ContinuousClock.now + .seconds(300)
        // The file appears, complete, once the server accepts connections.
        while !FileManager.default.fileExists(atPath: ports), process.isRunning, ContinuousClock.now < deadline {
            try await Program.pause()
        }
        let lines = try folder.read("ports").split(separator: "\n").map { $0.split(separator: " ") }
        port = String(try #require(lines.first { $0[0] == "http" })[1])
        base = "http://127.0.0.1:\(port)"
        secureBase = lines.first { $0[0] == "https" }.map { "https://127.0.0.1:\($0[1])" }
    }

    deinit { if process.isRunning { process.terminate() } }

    /// What it prints at its start, once it has.
    func banner() -> String {
        var printed = ""
        while !printed.contains("Stop with Control-C.") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            printed += String(decoding: data, as: UTF8.self)
        }
        return printed
    }

    @discardableResult
    func stop(by signal: Int32 = SIGTERM) -> Program.Run {
        kill(process.processIdentifier, signal)
        let texts = [output, log].map { String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        process.waitUntilExit()
        return Program.Run(status: process.terminationStatus, output: texts[0], complaint: texts[1])
    }

    /// The field by which it knows the app of Rezolve's partner.
    static let apiKey = ["x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"]

    func get(_ path: String, _ fields: [String: String] = [:]) async throws -> ClientResponse {
        try await send(.get, path, fields)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], _ body: String = ""
    ) async throws -> ClientResponse {
        var lines = HTTPFields()
        for (name, value) in fields { lines[try #require(HTTPField.Name(name))] = value }
        return try await HTTPClient.send(
            method: method, url: base + path, fields: lines, body: Array(body.utf8), within: .seconds(120))
    }

    func json(_ path: String, _ fields: [String: String] = [:]) async throws -> JSON {
        try JSON.parse(try await get(path, fields).body)
    }
}

/// A server in this process, which records the path of each request, with the token if one was sent.
final class LocalServer: Sendable {
    private final class Handler: RequestHandler {
        let seen = Mutex<[String]>([])
        private let response: @Sendable (Request) -> Response

        init(_ response: @escaping @Sendable (Request) -> Response) { self.response = response }

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 1000, answer: answer) }

        func answer(_ request: Request) -> Answer {
            let token = request.fields.first { $0.name.lowercased() == "authorization" }
            seen.withLock { $0.append("\(request.path)\(token.map { " " + $0.value } ?? "")") }
            return .ready(response(request))
        }
    }

    private let handler: Handler
    private let server: Server
    let base: String

    init(_ response: @escaping @Sendable (Request) -> Response) throws {
        handler = Handler(response)
        server = try Server(ServerConfiguration(listeners: [.init(port: 0)], loops: 1), handler: handler)
        base = "http://127.0.0.1:\(server.addresses[0].port)"
        server.start()
    }

    var seen: [String] { handler.seen.withLock { $0 } }
}

/// A local server as an issuer that publishes its discovery document and keys, and some that lead astray.
enum KeyServer {
    /// Generated once for all tests, since a pair takes a tenth of a second.
    static let key = Result {
        var key = try SigningKey.generateRSA()
        key.id = key.thumbprint
        return key
    }

    static func start() throws -> LocalServer { try LocalServer { Self.response(to: $0) } }

    private static func response(to request: Request) -> Response {
        let (path, authority) = (String(request.path), request.authority ?? "")
        let document = "/.well-known/openid-configuration"
        let good = "http://\(authority)/good"
        let moved = [
            "/moved": "/good" + document, "/absolute": good + document, "/circle": path,
            "/astray": "https://\(authority)\(path)", "/host": "//\(authority)/good" + document,
        ]
        if let location = moved[path.replacing(document, with: "")] {
            return Response(status: .found, fields: [.location: location])
        }
        switch path {
        case "/keys":
            let published = (try? key.get())?.publicJWK(algorithm: .rs256)
            return .json(["keys": .array(published.map { [$0] } ?? [])])
        case "/good" + document:
            return .json(["issuer": .string(good), "jwks_uri": .string("http://\(authority)/keys")])
        case "/lost" + document:
            var response = Response.json([:])
            response.transmission = Transmission(fault: .empty)
            return response
        default: return .json(["errorCode": "E0000007"], status: .notFound)
        }
    }
}
