import HTTPEngine
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The command that drives the app under drill. Its process leads a group of its own, which ends as a whole.
struct AppCommand: Sendable {
    let words: [String]
    let limit: Duration

    struct Ending: Sendable {
        /// The exit code; `nil` when the run was ended, or ended by a signal.
        let code: Int32?
        /// Why the run was ended before its own end; `nil` when it was not.
        let interruption: String?
        let lastLines: [String]
    }

    /// Runs the command until it ends, its time is over, or its calls fill the journal.
    ///
    /// - Parameter isFull: whether further calls would push out the first ones, which tell how it began.
    func run(at url: String, in sandbox: String, until isFull: () -> Bool) async throws(Misuse) -> Ending {
        // Has no name, so nothing is left of it.
        guard let file = tmpfile() else { throw Misuse("no temporary file can be made for the output of the command.") }
        defer { fclose(file) }
        let deadline = ContinuousClock.now + limit
        let pid = try spawn(
            words.map { $0.replacing("{url}", with: url) },
            ["UNDERSTUDY_URL": url, "UNDERSTUDY_SANDBOX": sandbox], output: fileno(file))
        var interruption: String?
        while !Self.hasEnded(pid), interruption == nil {
            if ContinuousClock.now > deadline { interruption = "it did not end within \(limit.components.seconds) s" }
            if isFull() { interruption = "its calls fill the journal" }
            // Nobody cancels a run.
            try? await Task.sleep(for: .milliseconds(5))
        }
        // Before the process is collected, nobody else can have the group's number.
        kill(-pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        Self.groups.withLock { _ = $0.remove(pid) }
        let code = interruption == nil && status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
        return Ending(code: code, interruption: interruption, lastLines: Self.lastLines(of: fileno(file)))
    }

    private static let groups = Mutex<Set<pid_t>>([])

    /// Ends all groups with this process, which must have called ``Signals/blockTermination()``.
    static func endWithProcess() {
        OperatingSystem.startThread {
            let signal = Signals.waitForTermination()
            groups.withLock { for pid in $0 { kill(-pid, SIGKILL) } }
            _exit(signal == .interrupt ? 130 : 143)
        }
    }

    private func spawn(_ words: [String], _ variables: [String: String], output: Int32) throws(Misuse) -> pid_t {
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        // What this process blocks or ignores, the app does not.
        var (none, ignored) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        // Under the lock, so that a signal finds either no process or its group.
        let error = Self.groups.withLock { groups in
            let error = posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, &environment)
            if error == 0 { groups.insert(pid) }
            return error
        }
        guard error == 0 else {
            let reason = error == ENOENT ? "was not found" : "cannot be run: \(String(cString: strerror(error)))"
            throw Misuse("the command \(words[0]) \(reason); expected a program that drives the app, after --.")
        }
        return pid
    }

    /// Whether the process has ended; it stays to be collected.
    private static func hasEnded(_ pid: pid_t) -> Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo != 0
    }

    private static func lastLines(of descriptor: Int32) -> [String] {
        let size = lseek(descriptor, 0, SEEK_END)
        let length = min(max(0, Int(size)), 4096)
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, length, size - off_t(length)))
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(8).map(String.init)
    }
}
