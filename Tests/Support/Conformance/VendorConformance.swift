public import Emulation
import JSON
import Testing
public import Understudy

/// All that the conformance kit must know of a vendor; it reads the rest from the mounted vendor's listings.
///
/// A vendor adds one such value next to its tests and one line to the list of vendors.
public struct VendorConformance: Sendable, CustomStringConvertible {
    /// The vendor's id.
    public let id: String
    /// The time of its examples.
    public var moment = World.exampleMoment
    /// The type of its JSON.
    public var contentType = "application/json; charset=utf-8"
    /// The failure for content that is too long.
    public var bodyTooLarge = "body-too-large"
    /// Successful calls to each route, at each of its places.
    public var routes: [RouteCase] = []
    /// Ways to provoke each failure.
    public var failures: [FailureCase] = []
    /// What each value of each switch does.
    public var switches: [SwitchCase] = []
    /// Name, documented and observed value of each switch.
    public var profiles: [String] = []
    /// How each kind of token is used, and the effects of its defects.
    public var tokens: [TokenCase] = []
    /// Events of every kind, to check what must survive; `nil` for a vendor whose state cannot be imported.
    public var life: SandboxLife?
    /// Members of its state that show that a reset happened, and so differ from a new state.
    public var resetMarks: Set<String> = []
    /// Limits on the number of records.
    public var bounds: [BoundCase] = []
    /// States that cannot be imported.
    public var wrongStates: [WrongState] = []
    /// The failure of a route's call without its fields; `nil` for a route without credentials.
    public var refusal: @Sendable (RouteCase) -> String? = { _ in nil }
    /// Whether the journal gives a reason for each failure; the tests' own vendors need none.
    public var givesReasons = true
    /// Values that the start shows as samples.
    public var samples: [String] = []
    /// Accounts that prevent the start.
    public var wrongAccounts: [WrongAccounts] = []
    /// Checks that apply to each of its answers, whatever the content.
    public var inspect: @Sendable (ReceivedAnswer) -> Void = { _ in }
    /// The server's vendors and fixtures; the repository's by default.
    public var server = ConformanceServer.repository

    /// A vendor with that id.
    public init(id: String, life: SandboxLife? = nil) {
        (self.id, self.life) = (id, life)
    }

    /// The vendor's id.
    public var description: String { id }

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

    /// The events in its sandboxes.
    func lived() throws -> SandboxLife { try #require(life) }

    /// The vendor as mounted.
    func mounted() throws -> any LoadedVendor {
        try #require(try server.stage().emulator.vendors.first { $0.identity.id == id }, "no vendor is called \(id)")
    }

    /// The vendor's state in a sandbox.
    func state(_ world: World) async throws -> String { try await world.control(.get, "state/" + id).text }
}

/// Where a vendor is mounted for the kit.
public struct ConformanceServer: Sendable {
    /// The folder of the fixtures.
    let fixtures: String
    /// The vendors.
    let loaders: [VendorLoader]
    /// A server that all cases share.
    let stage: @Sendable () throws -> Stage

    /// The repository's vendors and fixtures, on a separate server: the sandboxes would make the list on the shared one
    /// too long for the other tests.
    public static let repository = ConformanceServer(
        fixtures: Repository.root + "/Fixtures", loaders: Catalog.vendors)

    /// A server with only these vendors, whose fixtures are in that folder.
    public init(fixtures: String, loaders: [VendorLoader]) {
        let common = Result {
            try Stage(Emulator(fixtures: FixtureStore(layers: [fixtures]), loaders: loaders))
        }
        (self.fixtures, self.loaders, stage) = (fixtures, loaders, { try common.get() })
    }

    /// A new server, with files that override the fixtures.
    func fresh(under folder: String? = nil) throws -> Stage {
        let layers = (folder.map { [$0] } ?? []) + [fixtures]
        return try Stage(Emulator(fixtures: FixtureStore(layers: layers), loaders: loaders))
    }

    /// The server after a restart with a state file.
    func restarted(_ stage: Stage) throws -> Stage { try stage.restarted(FixtureStore(layers: [fixtures]), loaders) }
}

extension Stage {
    /// The server after a restart with a state file.
    public func restarted(
        _ fixtures: FixtureStore = Repository.fixtures, _ loaders: [VendorLoader] = Catalog.vendors
    ) throws -> Stage {
        // As text, like in a file.
        let saved = try JSON.parse(Array(emulator.exportState().prettyText.utf8), maximumDepth: Emulator.documentDepth)
        let next = try Emulator(fixtures: fixtures, loaders: loaders)
        try next.importState(FixtureNode(saved, from: "file"))
        return try Stage(next)
    }
}

/// A case and its vendor.
public struct Conforming<Value: Sendable>: Sendable, CustomStringConvertible {
    /// The vendor.
    public let vendor: VendorConformance
    /// The case.
    public let value: Value

    /// A case of a vendor.
    public init(_ value: Value, of vendor: VendorConformance) { (self.value, self.vendor) = (value, vendor) }

    /// The vendor's id and the case.
    public var description: String { "\(vendor) \(value)" }
}
