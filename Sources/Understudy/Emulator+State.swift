public import Emulation
public import JSON

/// What a restart must not lose, as one JSON document: of every sandbox in which something happened, what requests made
/// or changed. Clocks, settings, faults and journals are not in it.
extension Emulator {
    /// The longest state that the control API takes unless told otherwise (ours): that of ten thousand customers with a
    /// hundred events each.
    public static let standardStateLimit = 256 << 20

    /// How deep a state may be: it holds what requests brought, deeper inside than it was there.
    public static let stateDepth = 2 * JSON.defaultMaximumDepth

    /// The form of the document; another one gets another number.
    private static let stateFormat = 1

    /// What requests made or changed in all sandboxes, secrets included.
    public func exportState() -> JSON {
        let vendors = vendors
        return [
            "understudy_state": JSON(Self.stateFormat), "version": .string(Self.version),
            "saved_at": .string(machine().rfc3339),
            "sandboxes": .array(sandboxes.all.compactMap { Self.entry(of: $0, vendors) }),
        ]
    }

    private static func entry(of sandbox: Sandbox, _ vendors: [any MountedVendor]) -> JSON? {
        var states = JSONObject()
        for (index, vendor) in vendors.enumerated() {
            if let state = vendor.export(sandbox.cell(index), .changes) { states.append(vendor.identity.id, state) }
        }
        if states.isEmpty { return nil }
        var entry: JSONObject = ["name": .string(sandbox.name)]
        // Without it the ids of a seed would be given out a second time.
        if let seed = sandbox.settings.seed, let position = sandbox.identifiers.position {
            entry["ids"] = ["seed": .string(String(seed)), "position": .string(String(position))]
        }
        entry["state"] = .object(states)
        return .object(entry)
    }

    /// Lays an exported document over what the fixtures give.
    ///
    /// - Returns: how many sandboxes it holds.
    /// - Throws: the first thing that is wrong with it; no sandbox has another state then.
    @discardableResult
    public func importState(_ node: FixtureNode) throws(FixtureProblem) -> Int {
        let document = try node.mapping("understudy_state", "version", "saved_at", "sandboxes")
        let format = try document.required("understudy_state")
        guard try format.int() == Self.stateFormat else {
            throw format.problem("the file has another form than \(Self.stateFormat), which this release reads")
        }
        var names: Set<String> = []
        var installations: [@Sendable () -> Void] = []
        let list = try document.required("sandboxes")
        let count = try list.elements().count
        guard count <= sandboxes.capacity else {
            throw list.problem(
                "the file holds \(count) sandboxes, and there may be \(sandboxes.capacity); allow more with --sandboxes"
            )
        }
        for node in try list.elements() {
            let entry = try node.mapping("name", "ids", "state")
            let name = try entry.required("name").string()
            guard SandboxName.isValid(name), names.insert(name).inserted else {
                throw node.problem("“\(name)” is no name of a sandbox, or stands there twice")
            }
            let sandbox = sandboxes.sandbox(name)
            installations += try read(try entry.required("state"), for: sandbox)
            if let position = try entry["ids"].map(Self.position) ?? nil, position.seed == sandbox.settings.seed {
                installations.append { sandbox.identifiers.resume(at: position.position) }
            }
        }
        for install in installations { install() }
        return names.count
    }

    private func read(_ node: FixtureNode, for sandbox: Sandbox) throws(FixtureProblem) -> [@Sendable () -> Void] {
        var installations: [@Sendable () -> Void] = []
        for (id, state) in try node.members() {
            guard let index = vendor(id) else {
                throw state.nameProblem(
                    "no vendor is called \(id)\(Nearest.hint(to: id, among: vendors.map(\.identity.id)))")
            }
            installations.append(try mounting.vendor(index).read(state, .changes, for: sandbox.cell(index)))
        }
        return installations
    }

    private static func position(_ node: FixtureNode) throws(FixtureProblem) -> (seed: UInt64, position: UInt64) {
        let entry = try node.mapping("seed", "position")
        guard let seed = UInt64(try entry.required("seed").string()),
            let position = UInt64(try entry.required("position").string())
        else { throw node.problem("seed and position are whole numbers, written in quotes") }
        return (seed, position)
    }
}
