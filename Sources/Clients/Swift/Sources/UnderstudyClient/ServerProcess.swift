#if os(macOS) || os(Linux)
    import Foundation

    /// A server as a child of this process.
    actor ServerProcess {
        /// By `http`, `https` and `control`.
        nonisolated let ports: [String: Int]
        private let process: Process
        private let input: Pipe

        /// Starts the program at free ports, and waits until it listens.
        init(
            binary: String?, options: [String], environment: [String: String], within duration: Duration
        ) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("understudy-\(UUID())")
            let log = folder.appendingPathComponent("log")
            let portFile = folder.appendingPathComponent("ports")
            let process = Process()
            process.executableURL = try Self.program(binary)
            process.arguments =
                ["serve", "--host", "127.0.0.1", "--port", "0", "--log", "off"] + options
                + ["--port-file", portFile.path, "--until-stdin-closes"]
            process.environment = ProcessInfo.processInfo.environment.filter { !Self.ownVariables.contains($0.key) }
                .merging(environment) { _, given in given }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // What it holds has then been read; the system clears its temporary folder itself.
            defer { try? FileManager.default.removeItem(at: folder) }
            try Data().write(to: log)
            let output = try FileHandle(forWritingTo: log)
            defer { try? output.close() }  // The child has its own.
            process.standardOutput = output
            process.standardError = output
            // The server ends with the last process that holds this pipe, and no other child must.
            let input = Pipe()
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            process.standardInput = input
            do {
                try process.run()
                ports = try await Self.ports(in: portFile, of: process, log: log, within: duration)
            } catch {
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                throw error
            }
            // The server must not end with the last copy of its `Understudy`: a test may keep the sandbox only.
            _ = Unmanaged.passRetained(input)
            (self.process, self.input) = (process, input)
        }

        /// The clients' own variables, not options of the server, which warns about variables that it does not know.
        private static let ownVariables: Set = ["UNDERSTUDY_BINARY", "UNDERSTUDY_URL"]

        /// The program to start: the one given, that of `UNDERSTUDY_BINARY`, or `understudy` in `PATH`.
        private static func program(_ binary: String?) throws -> URL {
            let chosen = binary ?? variable("UNDERSTUDY_BINARY") ?? "understudy"
            let path = (variable("PATH") ?? "").split(separator: ":").map { "\($0)/" }
            let places = (chosen.contains("/") ? [""] : path).map { $0 + chosen }
            guard let found = places.first(where: FileManager.default.isExecutableFile) else {
                throw StartFailed(
                    message: "there is no program \(chosen); build it with `swift build` and name"
                        + " .build/debug/understudy in UNDERSTUDY_BINARY, or attach to a running server")
            }
            return URL(fileURLWithPath: found)
        }

        /// Waits for the file that a server writes once it listens, with a name and a port on each line.
        private static func ports(
            in file: URL, of process: Process, log: URL, within duration: Duration
        ) async throws -> [String: Int] {
            let last = ContinuousClock.now + duration
            while process.isRunning, ContinuousClock.now < last {
                if let text = try? String(contentsOf: file, encoding: .utf8) {
                    let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
                    let ports = lines.filter { $0.count > 1 }.map { (String($0[0]), Int($0[1])) }
                    return Dictionary(ports) { first, _ in first }.compactMapValues { $0 }
                }
                try await Task.sleep(for: .milliseconds(10))
            }
            let output = String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
            let what = process.isRunning ? "did not start in time" : "ended with code \(process.terminationStatus)"
            throw StartFailed(message: "understudy \(what):\n\(output)")
        }

        /// Ends it as a supervisor would.
        func stop() async -> Int {
            if process.isRunning { process.terminate() }
            let patience = ContinuousClock.now + .seconds(15)
            while process.isRunning {
                if ContinuousClock.now > patience { kill(process.processIdentifier, SIGKILL) }
                // Nobody cancels this task, so the pause is not cut short.
                try? await Task.sleep(for: .milliseconds(10))
            }
            try? input.fileHandleForWriting.close()  // Nobody reads it any more.
            let status = Int(process.terminationStatus)
            return process.terminationReason == .exit ? status : -status
        }
    }
#else
    enum ServerProcess {}
#endif
