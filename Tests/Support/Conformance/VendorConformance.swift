package import Emulation
import Expectations
import JSON
import Testing
import Understudy

/// All that the conformance kit must know of a vendor; it reads the rest from the mounted vendor's listings.
///
/// A vendor adds one such value next to its tests and one line to the list of vendors.
package struct VendorConformance: Sendable, CustomStringConvertible {
    package let id: String
    /// The time of its examples.
    package var moment = World.exampleMoment
    /// The type of its JSON.
    package var contentType = "application/json; charset=utf-8"
    /// The failure for content that is too long.
    package var bodyTooLarge = "body-too-large"
    /// Successful calls to each route, at each of its places.
    package var routes: [RouteCase] = []
    /// What each value of each switch does.
    package var switches: [SwitchCase] = []
    /// Name, documented and observed value of each switch.
    package var profiles: [String] = []
    /// Each shipped scenario, as an app meets it.
    package var plays: [ScenarioPlay] = []
    /// Each action with its members; an exclamation mark follows those that it needs.
    package var actions: [String] = []
    /// How each kind of token is used, and the effects of its defects.
    package var tokens: [TokenCase] = []
    /// Events of every kind, to check what must survive; `nil` for a vendor whose state cannot be imported.
    package var life: SandboxLife?
    /// Members of its state that show that a reset happened, and so differ from a new state.
    package var resetMarks: Set<String> = []
    /// Limits on the number of records.
    package var bounds: [BoundCase] = []
    /// States that cannot be imported.
    package var wrongStates: [WrongState] = []
    /// The failure of a route's call without its credentials; `nil` for a route without any.
    package var refusal: @Sendable (RouteCase) -> String? = { _ in nil }
    /// Takes the credentials out of a call: all fields, unless a vendor's are elsewhere too.
    package var dropCredentials: @Sendable (inout PreparedRequest) -> Void = { $0.fields = [] }
    /// The fields with which a client is told armed failures as `failures.yaml` has them.
    package var fieldsForArmed: World.Fields = []
    /// Routes whose own form of a failure is for people: a client with those fields gets the usual one.
    package var routesForPeople: Set<String> = []
    /// Replaces what each answer has of its own, such as an id, by what `failures.yaml` has in its place.
    package var withoutOwnIDs: @Sendable (String) -> String = { $0 }
    /// Values that the start shows as samples.
    package var samples: [String] = []
    /// Accounts that prevent the start.
    package var wrongAccounts: [WrongAccounts] = []
    /// Checks that apply to each of its answers, whatever the content.
    package var inspect: @Sendable (ReceivedAnswer) -> Void = { _ in }
    /// Failures by which the vendor takes a client's mistake for its own.
    package var serverFaults: Set<String> = []
    /// Whether the journal gives a reason for each failure; the tests' own vendors need none.
    package var givesReasons = true
    /// The server's vendors and fixtures; the repository's by default.
    package var server = ConformanceServer.repository

    package init(id: String, life: SandboxLife? = nil) { (self.id, self.life) = (id, life) }

    package var description: String { id }

    /// A new sandbox at the time of the examples.
    func world(_ depth: Depth = .pipeline, on stage: Stage? = nil) async throws -> World {
        try await World(depth, on: stage ?? server.stage(), at: moment)
    }

    /// The same sandbox at the same moment on another server.
    func world(_ world: World, movedTo stage: Stage) async throws -> World {
        let moved = world.moved(to: stage)
        try await moved.freeze(at: moment)
        return moved
    }

    func lived() throws -> SandboxLife { try #require(life) }

    func mounted() throws -> any AnyLoadedVendor {
        try #require(try server.stage().emulator.vendors.first { $0.identity.id == id }, "no vendor is called \(id)")
    }

    func state(_ world: World) async throws -> String { try await world.control(.get, "state/" + id).text }

    /// The same with its secrets, read in the process: for checks after each of thousands of calls, which search nothing
    /// for secrets.
    func wholeState(_ world: World) throws -> JSON {
        let vendors = try server.stage().emulator.vendors
        let index = try #require(vendors.firstIndex { $0.identity.id == id }, "no vendor is called \(id)")
        return world.sandbox.vendor(index).export(.whole) ?? [:]
    }
}

/// Where a vendor is mounted for the kit.
package struct ConformanceServer: Sendable {
    let fixtures: String
    private(set) var loaders: [VendorLoader]
    /// A server that all cases share.
    let stage: @Sendable () throws -> Stage

    /// The repository's vendors and fixtures, on a separate server: the sandboxes would make the list on the shared one
    /// too long for the other tests.
    package static let repository = ConformanceServer(fixtures: Repository.root + "/Fixtures", loaders: Catalog.vendors)

    package init(fixtures: String, loaders: [VendorLoader]) {
        let common = Result { try Stage(Emulator(fixtures: FixtureStore(layers: [fixtures]), loaders: loaders)) }
        (self.fixtures, self.loaders, stage) = (fixtures, loaders, { try common.get() })
    }

    /// The same with one vendor alone in new servers, which start faster.
    func only(_ id: String) -> ConformanceServer {
        var alone = self
        alone.loaders = loaders.filter { $0.identity.id == id }
        return alone
    }

    func fresh(under folder: String? = nil, keeping memory: Memory = .file) throws -> Stage {
        let fixtures = FixtureStore(layers: (folder.map { [$0] } ?? []) + [fixtures])
        switch memory {
        case .file: return try Stage(Emulator(fixtures: fixtures, loaders: loaders))
        case .store: return try Stage(keeping: StoreHome(), fixtures, loaders)
        }
    }

    func restarted(_ stage: Stage) throws -> Stage { try stage.restarted(FixtureStore(layers: [fixtures]), loaders) }
}

/// What carries sandboxes over a restart.
package enum Memory: String, Sendable, CaseIterable {
    /// A file, written at the end and read at the start.
    case file
    /// A store, written while the server runs and read when a sandbox is named.
    case store
}

extension Stage {
    /// The server after a restart with a state file, or with the store that keeps its sandboxes.
    package func restarted(
        _ fixtures: FixtureStore = Repository.fixtures, _ loaders: [VendorLoader] = Catalog.vendors
    ) throws -> Stage {
        guard let home else { return try restartedWithFile(fixtures, loaders) }
        expect(emulator.keeper?.finish(), is: nil)
        // A copy, since this server still has the store.
        let next = try Stage(keeping: home.copy(), fixtures, loaders)
        for sandbox in emulator.sandboxes.all { _ = try next.emulator.sandboxes.fetch(sandbox.name) }
        return next
    }

    private func restartedWithFile(_ fixtures: FixtureStore, _ loaders: [VendorLoader]) throws -> Stage {
        // As text, like in a file.
        let saved = try JSON.parse(Array(emulator.exportState().prettyText.utf8), maximumDepth: Emulator.documentDepth)
        let next = try Emulator(fixtures: fixtures, loaders: loaders)
        try next.importState(FixtureNode(saved, from: "file"))
        return try Stage(next)
    }
}

/// A case and its vendor.
package struct Conforming<Value: Sendable>: Sendable, CustomStringConvertible {
    package let vendor: VendorConformance
    package let value: Value

    package init(_ value: Value, of vendor: VendorConformance) { (self.value, self.vendor) = (value, vendor) }

    package var description: String { "\(vendor) \(value)" }
}
