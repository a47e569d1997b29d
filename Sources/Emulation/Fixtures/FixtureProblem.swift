import Synchronization

/// What is wrong with a fixture file: where, what was found and what would be right.
public struct FixtureProblem: Error, Sendable, Hashable {
    /// The file as a person would name it.
    package let file: String
    /// The line, counted from 1; `nil` when the problem concerns the whole file.
    package let line: Int?
    /// The column, counted from 1.
    package let column: Int?
    /// What was found and what would be right.
    package let message: String

    package init(file: String, line: Int? = nil, column: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
    }
}

extension FixtureProblem: CustomStringConvertible {
    /// `FILE:LINE:COLUMN: MESSAGE`.
    public var description: String {
        let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
        return "\(file)\(place): \(message)"
    }
}

/// Remarks on files that load, for those who start a server with them or check them; and for those who check them all
/// their problems, of which otherwise the first one ends the reading.
final class FixtureWarnings: Sendable {
    /// Problems after which the reading went on.
    struct Problems {
        var all: [FixtureProblem] = []
        /// The files of which a part was left out, so that what refers to it is no mistake of its own.
        var incomplete: Set<String> = []
    }

    private let found = Mutex<[FixtureProblem]>([])
    private let problems = Mutex<Problems?>(nil)

    /// Each once, since some files are read several times, and the first hundred, which is enough to mend (ours).
    func add(_ problem: FixtureProblem) {
        found.withLock { if $0.count < 100, !$0.contains(problem) { $0.append(problem) } }
    }

    /// By file and line: vendors are read at the same time.
    var all: [FixtureProblem] { found.withLock { $0 }.inOrder }

    func collectProblems() { problems.withLock { $0 = $0 ?? Problems() } }

    var collected: Problems? { problems.withLock { $0 } }

    /// Takes a problem if they are collected, and throws it otherwise.
    ///
    /// - Parameter leavingOut: whether what has the problem is not read.
    func take(_ problem: FixtureProblem, leavingOut: Bool) throws(FixtureProblem) {
        let isTaken = problems.withLock { problems in
            if problems?.all.contains(problem) == false { problems?.all.append(problem) }
            if leavingOut { problems?.incomplete.insert(problem.file) }
            return problems != nil
        }
        if !isTaken { throw problem }
    }
}

extension [FixtureProblem] {
    fileprivate var inOrder: [FixtureProblem] { sorted { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) } }
}

extension FixtureStore {
    /// Goes on after problems with files of the upper layers, to find them all.
    package func collectProblems() { sight.warnings.collectProblems() }

    /// The problems that were collected, by file and line.
    package var problems: [FixtureProblem] { sight.warnings.collected?.all.inOrder ?? [] }

    /// Whether something was left out because of a problem, so that what refers to it seems wrong, too.
    package var isIncomplete: Bool { sight.warnings.collected?.incomplete.isEmpty == false }

    /// Does something that reads files of a vendor. A problem that ends it is collected, too, unless it may come from what
    /// was left out before.
    package func collecting(
        of vendor: String, _ read: () throws(FixtureProblem) -> Void
    ) throws(FixtureProblem) {
        do {
            try read()
        } catch {
            let isIncomplete = sight.warnings.collected?.incomplete.contains {
                $0.split(separator: "/").contains(vendor[...])
            }
            if isIncomplete != true { try sight.warnings.take(error, leavingOut: true) }
        }
    }
}
