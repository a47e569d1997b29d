import Foundation
import Testing

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
        process = Program.process(
            ["serve", "--port", "0", "--port-file", "ports"] + options, environment, in: folder)
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
