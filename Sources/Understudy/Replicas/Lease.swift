import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The proof that a replica is alive, for all others of its folder: a file that it locks, and rewrites every 200 ms.
///
/// The lease ends a second after the beginning of the last successful beat, by the replica's own clock. Others wait a
/// little longer before they count it as gone, by theirs; so no two clocks need to agree.
final class Lease: Sendable {
    /// The time between two beats.
    static let beat = Duration.milliseconds(200)
    /// How long a beat counts for the replica itself.
    static let length = Duration.seconds(1)

    /// What a lease file says; always of the same length, so that a beat changes bytes in place.
    struct Text: Equatable {
        /// Which start of which machine the replica runs on.
        let boot: String
        /// Whether the file is locked while the process lives.
        let isLocked: Bool
        let process: Int32
        let beats: Int64

        var bytes: [UInt8] {
            let number = String(beats)
            let beat = String(repeating: "0", count: max(0, 19 - number.count)) + number
            return Array("boot \(boot)\nlocked \(isLocked)\nprocess \(process)\nbeat \(beat)\n".utf8)
        }

        init(boot: String, isLocked: Bool, process: Int32, beats: Int64) {
            (self.boot, self.isLocked, self.process, self.beats) = (boot, isLocked, process, beats)
        }

        /// Reads a file; `nil` for one that no replica writes.
        init?(_ bytes: [UInt8]) {
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
            guard lines.map({ $0.first ?? "" }) == ["boot", "locked", "process", "beat"],
                lines.allSatisfy({ $0.count == 2 }), let process = Int32(lines[2][1]), let beats = Int64(lines[3][1])
            else { return nil }
            self.init(
                boot: String(lines[0][1]), isLocked: lines[1][1] == "true", process: process, beats: beats)
        }
    }

    private struct State {
        var session = ""
        var earlier: Set<String> = []
        var descriptor: Int32 = -1
        var text: Text
    }

    private let folder: ReplicaFolder
    private let name: String
    private let state: Mutex<State>
    private let end = Atomic<Int64>(0)
    private let number = Atomic(0)

    /// Creates a lease that has yet to begin.
    init(of name: String, in folder: ReplicaFolder) {
        self.folder = folder
        self.name = name
        state = Mutex(State(text: Text(boot: MachineStart.id, isLocked: false, process: getpid(), beats: 0)))
    }

    /// The name under which others see this lease: that of the replica, and some digits.
    var session: String { state.withLock { $0.session } }

    /// Whether that session of this process has ended, even if its file could not be removed.
    func wasEarlier(_ session: String) -> Bool { state.withLock { $0.earlier.contains(session) } }

    /// Counts the sessions of the process. What belongs to an earlier one no longer counts.
    var tenure: Int { number.load(ordering: .acquiring) }

    /// Whether the lease counts now.
    var isValid: Bool { SteadyTime.nanoseconds < end.load(ordering: .acquiring) }

    /// Whether that session is the current one, and counts now.
    func holds(_ tenure: Int) -> Bool { tenure == number.load(ordering: .acquiring) && isValid }

    /// Begins a new session, with which the one before ends.
    func begin() throws(Files.Failure) {
        try state.withLock { (state) throws(Files.Failure) in
            let session = "\(name).\(String(UInt32.random(in: 1 << 28 ... .max), radix: 16))"
            let begun = SteadyTime.nanoseconds
            let file = try folder.makeLease(session, state.text)
            if state.descriptor >= 0 { close(state.descriptor) }
            folder.remove(state.session)
            state.earlier.insert(state.session)
            (state.session, state.descriptor) = (session, file.descriptor)
            state.text = Text(boot: state.text.boot, isLocked: file.isLocked, process: state.text.process, beats: 0)
            number.add(1, ordering: .acquiringAndReleasing)
            end.store(begun + Self.length.nanoseconds, ordering: .releasing)
        }
    }

    /// Extends the lease, unless it has lapsed: then others may count its session as gone, whatever is written now.
    func renew() {
        state.withLock { state in
            let begun = SteadyTime.nanoseconds
            guard begun < end.load(ordering: .relaxed) else { return }
            let text = state.text
            state.text = Text(boot: text.boot, isLocked: text.isLocked, process: text.process, beats: text.beats + 1)
            guard folder.beat(state.session, state.text) else { return }
            end.store(begun + Self.length.nanoseconds, ordering: .releasing)
        }
    }

    /// Ends the lease for good.
    func finish() {
        state.withLock { state in
            end.store(0, ordering: .releasing)
            folder.remove(state.session)
            if state.descriptor >= 0 { close(state.descriptor) }
            state.descriptor = -1
        }
    }
}

/// The start of this machine.
enum MachineStart {
    /// Differs between machines and between their starts; the same in all containers of one machine.
    static let id: String = {
        #if canImport(Darwin)
            var size = 64
            var bytes = [UInt8](repeating: 0, count: size)
            let isKnown = sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0
            let text = isKnown ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : ""
        #else
            let bytes = try? Files.content(of: "/proc/sys/kernel/random/boot_id")
            let text = String(decoding: bytes ?? [], as: UTF8.self).filter { !$0.isWhitespace }
        #endif
        // Unknown, it must not equal anybody's.
        return text.isEmpty ? String(UInt64.random(in: 1 << 60 ... .max), radix: 16) : text
    }()
}
