package import JSON
import Synchronization

/// What is wrong with a fixture file: where, what was found and what would be right.
public struct FixtureProblem: Error, Sendable, Hashable {
    /// The file as a person would name it.
    package let file: String
    /// The line, counted from 1; `nil` when the problem concerns the whole file.
    package let line: Int?
    /// The column, counted from 1.
    package let column: Int?
    package let message: String

    package init(file: String, line: Int? = nil, column: Int? = nil, message: String) {
        (self.file, self.line, self.column, self.message) = (file, line, column, message)
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

    package var problems: [FixtureProblem] { sight.warnings.collected?.all.inOrder ?? [] }

    /// Whether something was left out because of a problem, so that what refers to it seems wrong, too.
    package var isIncomplete: Bool { sight.warnings.collected?.incomplete.isEmpty == false }

    /// Does something that reads files of a vendor. A problem that ends it is collected, too, unless it may come from what
    /// was left out before.
    package func collecting(of vendor: String, _ read: () throws(FixtureProblem) -> Void) throws(FixtureProblem) {
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

/// The records of a state that could not be read, so that nothing else is lost.
///
/// Each reading has its own; it is not shared.
package final class Salvage {
    package struct Part: Sendable, Hashable {
        /// Where it stood, such as `sandboxes[0].state.VENDOR.users[3]`.
        package let path: String
        /// What was found there and what would be right, with the position.
        package let problem: String
        package let value: JSON

        package init(path: String, problem: String, value: JSON) {
            (self.path, self.problem, self.value) = (path, problem, value)
        }
    }

    package private(set) var parts: [Part] = []

    package init() {}

    func setAside(_ part: Part, insteadOfAllAfter count: Int) {
        parts.removeSubrange(count...)
        parts.append(part)
    }
}

/// The elements of a list in a fixture or in JSON; each node is created on demand, since a list may be long.
package struct FixtureElements: RandomAccessCollection, ExpressibleByArrayLiteral {
    package let startIndex = 0
    package let endIndex: Int
    private let element: (Int) -> FixtureNode

    init(count: Int, _ element: @escaping (Int) -> FixtureNode) { (endIndex, self.element) = (count, element) }

    package init(arrayLiteral elements: FixtureNode...) { self.init(count: elements.count) { elements[$0] } }

    package subscript(position: Int) -> FixtureNode { element(position) }
}

/// A fixture folder in use, and its files that are never read.
package struct FixtureLayer: Sendable {
    /// The folder, from the root of the file system.
    package let folder: String
    /// Unread files, or whole folders with a trailing slash, that look like fixtures; each with a hint.
    package let unread: [String]
    /// Remarks on the files of all layers, given for the topmost one.
    let remarks: [String]

    package var warnings: [String] { unread.map { "nobody reads \(FixtureStore.join(folder, $0))" } + remarks }
    package var json: JSON { ["folder": .string(folder), "unread": .array(unread.map(JSON.string))] }
}

extension FixtureStore {
    /// How the names of schemas end, which editors read and no server does.
    package static let schemaSuffix = ".schema.json"

    /// The layers, topmost first, once all vendors have been read.
    ///
    /// The bottom layer is not checked: it is complete and ships with the program.
    ///
    /// - Parameter vendors: the folders of the vendors.
    /// - Throws: the problem that prevents listing a folder.
    func layers(of vendors: [String]) throws(FixtureProblem) -> [FixtureLayer] {
        guard let bottom = layers.last else { return [] }
        return try layers.map { layer throws(FixtureProblem) in
            FixtureLayer(
                folder: layer.hasPrefix("/") ? layer : Self.join(FileSystem.currentFolder, layer),
                unread: layer == bottom ? [] : Self.hinted(try unreadFixtures(of: layer, over: bottom), vendors),
                remarks: layer == layers.first ? remarks : [])
        }
    }

    package var remarks: [String] { sight.warnings.all.map(\.description) }

    private func unreadFixtures(of layer: String, over bottom: String) throws(FixtureProblem) -> [String] {
        // Files that ship with the program are right where they are, such as schemas for editors.
        try usage(of: layer, where: Self.looksLikeFixture).unread.filter { !FileSystem.holds(Self.join(bottom, $0)) }
    }

    /// Files that nobody reads, and the folders of no vendor as a whole; each with a hint.
    package static func hinted(_ unread: [String], _ vendors: [String]) -> [String] {
        let unknown = unread.compactMap(folder).filter { !vendors.contains($0) }
        let inside = unread.filter { folder(of: $0).map(vendors.contains) ?? true }
        return Set(unknown).sorted().map { "\($0)/\(Nearest.hint(to: $0, among: vendors))" }
            + inside.map { $0.hasSuffix(".yml") ? "\($0); files of fixtures end in .yaml" : $0 }
    }

    /// Documentation, code, schemas for editors, and what only others read are not fixtures of a server: contract cases,
    /// what documents say of answers and requests, and drills.
    private static func looksLikeFixture(_ path: String) -> Bool {
        let name = path.lowercased()
        guard [".yaml", ".yml", ".json", ".pem"].contains(where: name.hasSuffix), !path.hasSuffix(schemaSuffix) else {
            return false
        }
        let inside = path.utf8.drop { $0 != UInt8(ascii: "/") }
        if inside.starts(with: "/answers/".utf8) || inside.starts(with: "/drills/".utf8) {
            return !path.hasSuffix(".yaml")
        }
        return !inside.elementsEqual("/requests.yaml".utf8)
    }

    private static func folder(of path: String) -> String? {
        path.contains("/") ? path.split(separator: "/").first.map(String.init) : nil
    }
}
