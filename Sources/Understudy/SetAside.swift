import Emulation
import JSON
import Synchronization

/// A part of a state file that could not be read, and is kept as it stood there.
public struct SetAsidePart: Sendable, CustomStringConvertible {
    /// The longest problem that is told; what was found may be long.
    private static let longestProblem = 400

    /// The sandbox; `nil` where its name could not be read.
    public let sandbox: String?
    /// The vendor's id; `nil` where the sandbox as a whole could not be read.
    public let vendor: String?
    /// Where in the vendor's state the record stood, such as `users[3]`; empty for all of it.
    public let record: String
    /// What was found and what would be right.
    public let problem: String
    private let value: JSON

    /// A part of a document, as reading it has set it aside.
    ///
    /// - Parameter secrets: names of members whose values are never told.
    init(_ part: Salvage.Part, of document: JSON, secrets: Set<String>) {
        let steps = part.path.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        let index = steps.first.flatMap { Int($0.dropFirst("sandboxes[".count).dropLast()) }
        sandbox = index.flatMap { document["sandboxes"]?[$0]?["name"]?.string }
        vendor = steps.count > 2 ? steps[2] : nil
        record = steps.count > 3 ? steps[3] : ""
        problem = Self.told(part.problem, secrets)
        value = part.value
    }

    /// A part as an export has it.
    init(_ json: JSON) {
        (sandbox, vendor) = (json["sandbox"]?.string, json["vendor"]?.string)
        (record, problem) = (json["record"]?.string ?? "", json["problem"]?.string ?? "is no part that was set aside")
        value = json["value"] ?? json
    }

    /// The problem, shortened, and without what stood in the place of a secret.
    private static func told(_ problem: String, _ secrets: Set<String>) -> String {
        if let colon = problem.firstRange(of: ": ") {
            let path = problem[..<colon.lowerBound]
            if let name = path.split(separator: ".").last, secrets.contains(String(name)) {
                return "\(path): is not what a secret of that name looks like; what stands there is not told"
            }
        }
        return problem.count > longestProblem ? problem.prefix(longestProblem) + "…" : problem
    }

    /// Where it stood and what was wrong with it, without the part itself.
    var summary: JSON {
        [
            "sandbox": JSON(sandbox), "vendor": JSON(vendor), "record": .string(record), "problem": .string(problem),
        ]
    }

    /// The part as an export has it.
    var json: JSON {
        var members = summary.object ?? [:]
        members["value"] = value
        return .object(members)
    }

    /// In words, such as `sandbox a, VENDOR, users[3]`, and the problem.
    public var description: String {
        let place = ["sandbox " + (sandbox ?? "without a name"), vendor, record.isEmpty ? nil : record]
        return "\(place.compactMap(\.self).joined(separator: ", ")): \(problem)"
    }
}

/// What was set aside of state files, now and at earlier starts.
final class SetAsideParts: Sendable {
    /// How many parts `health` names.
    private static let mostTold = 20

    private let content = Mutex<[JSON]>([])
    private let reloads: Reloads

    /// Nothing was set aside yet.
    ///
    /// - Parameter reloads: who says in `health` what was.
    init(telling reloads: Reloads) {
        self.reloads = reloads
    }

    /// The parts as an export has them, the earliest first.
    var parts: [JSON] { content.withLock { $0 } }

    /// Adds parts as an export has them.
    func add(_ parts: [JSON]) {
        let all = content.withLock { content in
            content += parts
            return content
        }
        let told = all.prefix(Self.mostTold).map { SetAsidePart($0).summary }
        reloads.tell(setAside: ["count": JSON(all.count), "parts": .array(told)])
    }
}
