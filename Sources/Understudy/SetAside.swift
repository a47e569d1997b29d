import Emulation
import JSON
import Synchronization

/// A part of a state file that could not be read, and is kept unchanged.
package struct SetAsidePart: Sendable, CustomStringConvertible {
    /// The maximum length of a reported problem; what was found may be long.
    private static let longestProblem = 400

    /// The sandbox; `nil` when its name could not be read.
    package let sandbox: String?
    /// The vendor's id; `nil` when the whole sandbox could not be read.
    package let vendor: String?
    /// Where the record stood in the vendor's state, such as `users[3]`, or else in the sandbox; empty for all of it.
    package let record: String
    /// What was found and what would be right.
    package let problem: String
    private let value: JSON

    /// Creates a part from a document of several sandboxes.
    ///
    /// - Parameter secrets: names of members whose values are never shown.
    init(_ part: Salvage.Part, of document: JSON, secrets: Set<String>) {
        let first = part.path.split(separator: ".", maxSplits: 1).first
        let index = first.flatMap { Int($0.dropFirst("sandboxes[".count).dropLast()) }
        self.init(
            part, of: index.flatMap { document["sandboxes"]?[$0]?["name"]?.string }, secrets: secrets)
    }

    /// Creates a part from what was kept of a sandbox.
    ///
    /// - Parameter secrets: names of members whose values are never shown.
    init(_ part: Salvage.Part, of sandbox: String?, secrets: Set<String>) {
        self.sandbox = sandbox
        let steps = part.path.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        let isOfVendor = steps.count > 2 && steps[1] == "state"
        vendor = isOfVendor ? steps[2] : nil
        record = steps.dropFirst(isOfVendor ? 3 : 1).joined(separator: ".")
        problem = Self.told(part.problem, secrets)
        value = part.value
    }

    /// Reads a part from an export.
    init(_ json: JSON) {
        (sandbox, vendor) = (json["sandbox"]?.string, json["vendor"]?.string)
        (record, problem) = (
            json["record"]?.string ?? "", json["problem"]?.string ?? "is not a part that was set aside"
        )
        value = json["value"] ?? json
    }

    /// The problem, shortened, and without the values of secrets.
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

    /// The part as written in an export.
    var json: JSON {
        var members = summary.object ?? [:]
        members["value"] = value
        return .object(members)
    }

    /// A description such as `sandbox a, VENDOR, users[3]`, followed by the problem.
    package var description: String {
        let place = ["sandbox " + (sandbox ?? "without a name"), vendor, record.isEmpty ? nil : record]
        return "\(place.compactMap(\.self).joined(separator: ", ")): \(problem)"
    }
}

/// What was set aside from state files, now and at earlier starts.
final class SetAsideParts: Sendable {
    /// How many parts `health` names.
    private static let mostTold = 20

    private let content = Mutex<[JSON]>([])
    private let reloads: Reloads

    /// Creates an empty collection.
    ///
    /// - Parameter reloads: reports the parts in `health`.
    init(telling reloads: Reloads) {
        self.reloads = reloads
    }

    /// The parts as written in an export, earliest first.
    var parts: [JSON] { content.withLock { $0 } }

    func add(_ parts: [JSON]) {
        let all = content.withLock { content in
            // A sandbox that is read again has the same ones.
            content += parts.filter { !content.contains($0) }
            return content
        }
        let told = all.prefix(Self.mostTold).map { SetAsidePart($0).summary }
        reloads.tell(setAside: ["count": JSON(all.count), "parts": .array(told)])
    }
}
