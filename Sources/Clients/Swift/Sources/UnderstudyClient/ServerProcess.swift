#if os(macOS) || os(Linux)
    import Foundation

    /// A server as a child of this process.
    actor ServerProcess {
        /// By `http`, `https` and `control`.
        nonisolated let ports: [String: Int]
        private let process: Process
        private let input: Pipe

        private init(_ process: sending Process, _ input: Pipe, ports: [String: Int]) {
            self.process = process
            self.input = input
            self.ports = ports
        }

        /// Starts the program at free ports, and waits until it listens.
        static func start(
            binary: String?, options: [String], environment: [String: String], within duration: Duration
        ) async throws -> ServerProcess {
            let program = try program(binary)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("understudy-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // What it holds has then been read; the system clears its temporary folder itself.
            defer { try? FileManager.default.removeItem(at: folder) }
            let log = folder.appendingPathComponent("log")
            let portFile = folder.appendingPathComponent("ports")
            try Data().write(to: log)
            let output = try FileHandle(forWritingTo: log)
            defer { try? output.close() }  // The child has its own.
            // The server ends with the last process that holds this pipe, and no other child must.
            let input = Pipe()
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)

            let process = Process()
            process.executableURL = program
            process.arguments =
                ["serve", "--host", "127.0.0.1", "--port", "0", "--log", "off"] + options
                + ["--port-file", portFile.path, "--until-stdin-closes"]
            process.environment = ProcessInfo.processInfo.environment.filter { !ownVariables.contains($0.key) }
                .merging(environment) { _, given in given }
            process.standardInput = input
            process.standardOutput = output
            process.standardError = output
            do {
                try process.run()
                try await waitForPorts(portFile, of: process, log: log, within: duration)
            } catch {
                if process.isRunning { kill(process.processIdentifier, SIGKILL) }
                throw error
            }
            // The server must not end with the last copy of its `Understudy`: a test may keep the sandbox only.
            _ = Unmanaged.passRetained(input)
            return ServerProcess(process, input, ports: try ports(in: portFile))
        }

        /// The clients' own variables, not options of the server, which warns about variables that it does not know.
        private static let ownVariables: Set = ["UNDERSTUDY_BINARY", "UNDERSTUDY_URL"]

        /// The program to start: the one given, that of `UNDERSTUDY_BINARY`, or `understudy` in `PATH`.
        private static func program(_ binary: String?) throws -> URL {
            let environment = ProcessInfo.processInfo.environment
            let named = environment["UNDERSTUDY_BINARY"].flatMap { $0.isEmpty ? nil : $0 }
            let chosen = binary ?? named ?? "understudy"
            let path = (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/" }
            let places = (chosen.contains("/") ? [""] : path).map { $0 + chosen }
            guard let found = places.first(where: FileManager.default.isExecutableFile) else {
                throw StartFailed(
                    message: "there is no program \(chosen); build it with `swift build` and name"
                        + " .build/debug/understudy in UNDERSTUDY_BINARY, or attach to a running server")
            }
            return URL(fileURLWithPath: found)
        }

        private static func waitForPorts(
            _ file: URL, of process: Process, log: URL, within duration: Duration
        ) async throws {
            let last = ContinuousClock.now + duration
            while !FileManager.default.fileExists(atPath: file.path) {
                let isRunning = process.isRunning
                if isRunning, ContinuousClock.now < last {
                    try await Task.sleep(for: .milliseconds(10))
                    continue
                }
                let output = String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
                let what = isRunning ? "did not start in time" : "ended with code \(process.terminationStatus)"
                throw StartFailed(message: "understudy \(what):\n\(output)")
            }
        }

        private static func ports(in file: URL) throws -> [String: Int] {
            let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
            let pairs = lines.map { $0.split(separator: " ") }.compactMap { words -> (String, Int)? in
                guard words.count > 1, let port = Int(words[1]) else { return nil }
                return (String(words[0]), port)
            }
            return Dictionary(pairs) { first, _ in first }
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
