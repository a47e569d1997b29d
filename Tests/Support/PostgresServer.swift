package import Foundation

/// A real PostgreSQL in a folder of its own, which ends with the process of the tests, however that ends.
package final class PostgresServer: Sendable {
    /// The one that tests share, in which each makes a database of its own.
    package static let shared = Result { try PostgresServer() }

    package static let password = "Not-A-Secret-1"

    package let port: Int
    private let programs: String
    private let folder: String
    private let shell = Process()
    private let commands = Pipe()

    package init() throws {
        programs = try Self.findPrograms()
        folder = "/tmp/understudy-pg-" + UUID().uuidString.prefix(8)
        port = try Self.freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.password.write(toFile: folder + "/password", atomically: true, encoding: .utf8)
        // It refuses to run as root.
        var prefix: [String] = []
        if getuid() == 0 {
            guard let user = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw Missing("no user postgres or nobody")
            }
            let (uid, gid) = (user.pointee.pw_uid, user.pointee.pw_gid)
            for path in [folder, folder + "/password"] { chown(path, uid, gid) }
            prefix = ["setpriv", "--reuid=\(uid)", "--regid=\(gid)", "--clear-groups"]
        }
        shell.executableURL = URL(filePath: "/usr/bin/env")
        shell.arguments = prefix + ["sh", "-c", Self.script, "sh", programs, folder, "\(port)"]
        shell.currentDirectoryURL = URL(filePath: folder)
        shell.standardInput = commands
        try shell.run()
        try start()
    }

    /// Reads commands; where there are no more, since whoever gives them is gone, everything ends.
    private static let script = """
        trap '' INT
        data=$2/data
        signal() { kill -"$1" "$(head -n 1 "$data/postmaster.pid")" && wait; } 2>/dev/null
        # A killed server's processes may still hold its memory.
        run() {
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                "$1/postgres" -D "$data" -p "$3" -k "$2" -h 127.0.0.1 -c max_connections=300 >>"$2/log" 2>&1 </dev/null
                [ $? -eq 1 ] || break
                sleep 0.2
            done
        }
        "$1/initdb" -D "$data" -U postgres -E UTF8 --locale=C --no-sync --auth-local=trust \\
            --auth-host=scram-sha-256 --pwfile="$2/password" >"$2/log" 2>&1
        while read -r command; do
            case $command in
            start) run "$@" & ;;
            *) signal "$command" ;;
            esac
        done
        signal QUIT
        rm -rf "$2"
        """

    package func start() throws {
        try command("start")
        let end = ContinuousClock.now + .seconds(120)
        while try run("pg_isready", ["-q", "-h", folder, "-p", "\(port)"]) != nil {
            guard shell.isRunning, ContinuousClock.now < end else {
                let log = try? String(contentsOfFile: folder + "/log", encoding: .utf8)
                throw Missing("PostgreSQL does not start: \(log ?? "it wrote no log")")
            }
        }
    }

    /// Ends it by a signal, such as `KILL` or `INT`, and waits for its end and that of its sessions, which when it is killed
    /// may answer one more time.
    package func end(by signal: String) throws {
        let process = process
        let children = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        try command(signal)
        for process in [process] + (children ?? "").split(separator: " ").compactMap({ pid_t($0) }) {
            while kill(process, 0) == 0 || errno == EPERM {}
        }
    }

    /// The number of the server's own process.
    package var process: pid_t {
        let text = try? String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) } ?? 0
    }

    package func makeDatabase() throws -> String {
        let name = "t" + UUID().uuidString.prefix(13).lowercased().replacing("-", with: "")
        if let problem = try run("createdb", ["-h", folder, "-p", "\(port)", "-U", "postgres", String(name)]) {
            throw Missing("createdb: \(problem)")
        }
        return "postgres://postgres:\(Self.password)@127.0.0.1:\(port)/\(name)"
    }

    /// Makes a database that holds what another one holds, as if all its servers were gone.
    package func copy(_ url: String) throws -> String {
        let copy = try makeDatabase()
        let script = """
            "$1/pg_dump" -n understudy "$2" | "$1/psql" -q -v ON_ERROR_STOP=1 "$3" -f - -c 'DELETE FROM understudy.servers'
            """
        if let problem = try run("sh", ["-c", script, "sh", programs, url, copy]) { throw Missing(problem) }
        return copy
    }

    private func command(_ text: String) throws {
        try commands.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Runs one of its programs; returns what it complains of if it fails.
    private func run(_ program: String, _ arguments: [String]) throws -> String? {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: program == "sh" ? "/bin/sh" : "\(programs)/\(program)")
        process.arguments = arguments
        process.standardError = output
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : text
    }

    deinit { try? commands.fileHandleForWriting.close() }

    private struct Missing: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private static func findPrograms() throws -> String {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders =
            versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
            + ["/opt/homebrew/opt/postgresql@17/bin", "/usr/local/opt/postgresql@17/bin"]
            + path.split(separator: ":").map(String.init)
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else {
            throw Missing("PostgreSQL is not installed: apt-get install postgresql libpq5, or docker/bootstrap.sh test")
        }
        return folder
    }

    private static func freePort() throws -> Int {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Missing("no port is free on 127.0.0.1") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
