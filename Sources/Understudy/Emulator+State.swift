package import Emulation
package import JSON
import Synchronization

/// What a restart must not lose, as one JSON document: for every sandbox with changes, what requests added or changed.
/// Clocks, settings, faults and journals are not included.
extension Emulator {
    /// The default limit for states that the control API accepts (ours): reading one takes a multiple of its size,
    /// which any machine that runs tests can spare.
    package static let standardStateLimit = 64 << 20

    /// The maximum depth of a state: it nests data from requests deeper than the requests did.
    package static let stateDepth = JSON.keptDepth

    /// The maximum depth of a state document: the document, the sandboxes and one sandbox enclose a vendor's state.
    package static let documentDepth = stateDepth + 4

    /// The version of the document's format; a new format gets a new number, and older ones remain readable.
    static let stateFormat = 2

    /// What requests added or changed in the sandboxes in memory, including secrets.
    package func exportState() -> JSON {
        let vendors = vendors
        return Self.stateDocument(
            sandboxes.all.compactMap { Self.entry(of: $0, vendors) }, setAside.parts, at: machine())
    }

    /// What requests added or changed in all sandboxes of a store, including secrets.
    ///
    /// - Parameter skip: learns which sandbox cannot be read, and why; throws unless the others are wanted without it.
    package static func exportState(
        of store: any StateStore, at moment: Moment,
        skip: (String, StoreProblem) throws(StoreProblem) -> Void = { (_, why) throws(StoreProblem) in throw why }
    ) throws(StoreProblem) -> JSON {
        var (entries, setAside): ([JSON], [JSON]) = ([], [])
        for sandbox in try store.list() {
            let rows: [StateRow]
            do {
                rows = try store.rows(of: sandbox.name)
            } catch {
                try skip(sandbox.name, error)
                continue
            }
            let kept = StateRow.document(of: rows) { _ in }
            setAside += kept["set_aside"]?.array ?? []
            guard let state = kept["state"] else { continue }
            var entry: JSONObject = ["name": .string(sandbox.name)]
            entry["ids"] = kept["ids"]
            entry["state"] = state
            entries.append(.object(entry))
        }
        return stateDocument(entries, setAside, at: moment)
    }

    private static func stateDocument(_ entries: [JSON], _ setAside: [JSON], at moment: Moment) -> JSON {
        var document: JSONObject = [
            "understudy_state": JSON(stateFormat), "version": .string(version), "saved_at": .string(moment.rfc3339),
            "sandboxes": .array(entries),
        ]
        if !setAside.isEmpty { document["set_aside"] = .array(setAside) }
        return .object(document)
    }

    private static func entry(of sandbox: Sandbox, _ vendors: [any AnyLoadedVendor]) -> JSON? {
        var states = JSONObject()
        for (index, vendor) in vendors.enumerated() {
            if let state = sandbox.vendor(index).export(.changes) { states.append(vendor.identity.id, state) }
        }
        if states.isEmpty { return nil }
        var entry: JSONObject = ["name": .string(sandbox.name)]
        // Without the position, the ids of a seed would be issued again.
        entry["ids"] = sandbox.identifiers.kept(seed: sandbox.settings.seed)
        entry["state"] = .object(states)
        return .object(entry)
    }

    /// Overlays the fixtures with an exported document.
    ///
    /// - Returns: the number of sandboxes in it.
    /// - Throws: the first problem with it; no sandbox has changed in that case.
    @discardableResult
    package func importState(_ node: FixtureNode) throws(FixtureProblem) -> Int {
        let document = try node.mapping("understudy_state", "version", "saved_at", "sandboxes", "set_aside")
        let format = try document.required("understudy_state")
        guard (1...Self.stateFormat).contains(try format.int()) else {
            throw format.problem("the file's format is not between 1 and \(Self.stateFormat), which this release reads")
        }
        let parts = try document["set_aside"]?.elements().map { (node) throws(FixtureProblem) in try node.verbatim() }
        var names: Set<String> = []
        var installations: [@Sendable () -> Void] = []
        let list = try document.required("sandboxes")
        let count = try list.elements().count
        guard count <= sandboxes.capacity else {
            throw list.problem(
                "the file has \(count) sandboxes, and there may be \(sandboxes.capacity); allow more with --sandboxes"
            )
        }
        try list.forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("name", "ids", "state")
            let name = try entry.required("name").string()
            guard SandboxName.isValid(name), names.insert(name).inserted else {
                throw node.problem("“\(name)” is not a sandbox name, or occurs twice")
            }
            let sandbox = try node.locate { () throws(SandboxUnavailable) in try sandboxes.fetchPatiently(name) }
            installations += try read(try entry.required("state"), for: sandbox)
            if let ids = entry["ids"], let position = try IdentifierSource.position(ids, seed: sandbox.settings.seed) {
                installations.append { sandbox.identifiers.resume(at: position) }
            }
        }
        for install in installations { install() }
        if let parts { setAside.add(parts) }
        return names.count
    }

    /// Overlays the fixtures with a saved document, and sets aside what cannot be read: an unreadable sandbox, vendor
    /// state or record does not affect the others.
    ///
    /// The parts set aside go into the next export unchanged, and `health` names them.
    ///
    /// - Returns: how many sandboxes were read, and what was set aside, now and before.
    /// - Throws: what is wrong with the document itself; no sandbox has changed in that case.
    package func restoreState(
        _ document: JSON, from source: String
    ) throws(FixtureProblem) -> (sandboxes: Int, setAside: [SetAsidePart]) {
        let salvage = Salvage()
        let count = try importState(FixtureNode(document, from: source, settingAside: salvage))
        let secrets = inForce.loaded.memberSecrets
        setAside.add(salvage.parts.map { SetAsidePart($0, of: document, secrets: secrets).json })
        return (count, setAside.parts.map(SetAsidePart.init))
    }

    private func read(_ node: FixtureNode, for sandbox: Sandbox) throws(FixtureProblem) -> [@Sendable () -> Void] {
        var installations: [@Sendable () -> Void] = []
        for (id, state) in try node.members() {
            try state.readRecord { (state) throws(FixtureProblem) in
                guard let index = vendor(id) else {
                    throw state.nameProblem(
                        "no vendor is called \(id)\(Nearest.hint(to: id, among: vendors.map(\.identity.id)))")
                }
                installations.append(try sandbox.vendor(index).read(state, .changes))
            }
        }
        return installations
    }
}

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
    package let problem: String
    private let value: JSON

    /// Creates a part from a document of several sandboxes; the values of members with a secret's name are never shown.
    init(_ part: Salvage.Part, of document: JSON, secrets: Set<String>) {
        let first = part.path.split(separator: ".", maxSplits: 1).first
        let index = first.flatMap { Int($0.dropFirst("sandboxes[".count).dropLast()) }
        self.init(part, of: index.flatMap { document["sandboxes"]?[$0]?["name"]?.string }, secrets: secrets)
    }

    init(_ part: Salvage.Part, of sandbox: String?, secrets: Set<String>) {
        self.sandbox = sandbox
        let steps = part.path.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        let isOfVendor = steps.count > 2 && steps[1] == "state"
        vendor = isOfVendor ? steps[2] : nil
        record = steps.dropFirst(isOfVendor ? 3 : 1).joined(separator: ".")
        problem = Self.shown(part.problem, secrets)
        value = part.value
    }

    init(_ json: JSON) {
        (sandbox, vendor) = (json["sandbox"]?.string, json["vendor"]?.string)
        (record, problem) = (
            json["record"]?.string ?? "", json["problem"]?.string ?? "is not a part that was set aside"
        )
        value = json["value"] ?? json
    }

    /// The problem, shortened, and without the values of secrets.
    private static func shown(_ problem: String, _ secrets: Set<String>) -> String {
        if let colon = problem.firstRange(of: ": ") {
            let path = problem[..<colon.lowerBound]
            if let name = path.split(separator: ".").last, secrets.contains(String(name)) {
                return "\(path): is not a secret of that name's form; its value is not shown"
            }
        }
        return problem.count > longestProblem ? problem.prefix(longestProblem) + "…" : problem
    }

    /// Where it stood and what was wrong with it, without the part itself.
    var summary: JSON {
        ["sandbox": JSON(sandbox), "vendor": JSON(vendor), "record": .string(record), "problem": .string(problem)]
    }

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
    private static let mostListed = 20

    private let content = Mutex<[JSON]>([])
    private let reloads: Reloads

    init(reporting reloads: Reloads) { self.reloads = reloads }

    /// The parts as written in an export, earliest first.
    var parts: [JSON] { content.withLock { $0 } }

    func add(_ parts: [JSON]) {
        let all = content.withLock { content in
            // A sandbox that is read again has the same parts.
            content += parts.filter { !content.contains($0) }
            return content
        }
        let listed = all.prefix(Self.mostListed).map { SetAsidePart($0).summary }
        reloads.change { $0.setAside = ["count": JSON(all.count), "parts": .array(listed)] }
    }
}
