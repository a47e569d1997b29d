public import Emulation
import JSON
import Testing
public import Understudy

/// All that the conformance kit has to be told of a vendor; the rest it reads from the listings of the mounted vendor.
///
/// A vendor adds one such value beside its tests and one line to the list of vendors.
public struct VendorConformance: Sendable, CustomStringConvertible {
    /// The vendor's id.
    public let id: String
    /// When its examples take place.
    public var moment = World.exampleMoment
    /// The type of its JSON.
    public var contentType = "application/json; charset=utf-8"
    /// The failure of a content that is too long.
    public var bodyTooLarge = "body-too-large"
    /// How each route is called with success, at each of its places.
    public var routes: [RouteCase] = []
    /// How each failure is provoked.
    public var failures: [FailureCase] = []
    /// What each value of each switch does.
    public var switches: [SwitchCase] = []
    /// Name, documented and observed value of each switch.
    public var profiles: [String] = []
    /// How each kind of token is used, and what comes of its defects.
    public var tokens: [TokenCase] = []
    /// Something of every kind happens, for whatever must survive; `nil` for a vendor whose state cannot be imported.
    public var life: SandboxLife?
    /// Members of its state that tell of a reset, and by which the state is not as new.
    public var resetMarks: Set<String> = []
    /// How many records there may be.
    public var bounds: [BoundCase] = []
    /// States that cannot be imported.
    public var wrongStates: [WrongState] = []
    /// The failure that a call of a route meets without its fields; `nil` where nobody asks for credentials.
    public var refusal: @Sendable (RouteCase) -> String? = { _ in nil }
    /// Whether the journal gives a reason for each failure; vendors of the tests' own need none.
    public var givesReasons = true
    /// Values that are shown at the start as samples.
    public var samples: [String] = []
    /// Accounts that stop the start.
    public var wrongAccounts: [WrongAccounts] = []
    /// What each of its answers carries, whatever the content is.
    public var inspect: @Sendable (ReceivedAnswer) -> Void = { _ in }
    /// What the server is made of: the repository's vendors and fixtures unless told otherwise.
    public var server = ConformanceServer.repository

    /// A vendor of that id.
    public init(id: String, life: SandboxLife? = nil) {
        (self.id, self.life) = (id, life)
    }

    /// The vendor's id.
    public var description: String { id }

    /// A sandbox of its own at the moment of the examples.
    func world(_ depth: Depth = .pipeline, on stage: Stage? = nil) async throws -> World {
        try await World(depth, on: stage ?? server.stage(), at: moment)
    }

    /// The same sandbox at the same moment on another server.
    func world(_ world: World, movedTo stage: Stage) async throws -> World {
        let moved = world.moved(to: stage)
        try await moved.freeze(at: moment)
        return moved
    }

    /// What happens in its sandboxes.
    func lived() throws -> SandboxLife { try #require(life) }

    /// The vendor as it is mounted.
    func mounted() throws -> any LoadedVendor {
        try #require(try server.stage().emulator.vendors.first { $0.identity.id == id }, "no vendor is called \(id)")
    }

    /// What the vendor remembers in a sandbox.
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

    /// The repository's own vendors and fixtures, apart from the server that all other tests share, whose list of sandboxes
    /// would otherwise become too long for them.
    public static let repository = ConformanceServer(
        fixtures: Repository.root + "/Fixtures", loaders: Catalog.vendors)

    /// A server with these vendors alone, whose fixtures lie in that folder.
    public init(fixtures: String, loaders: [VendorLoader]) {
        let common = Result {
            try Stage(Emulator(fixtures: FixtureStore(layers: [fixtures]), loaders: loaders))
        }
        (self.fixtures, self.loaders, stage) = (fixtures, loaders, { try common.get() })
    }

    /// A server of its own, with files that lie over the fixtures.
    func fresh(under folder: String? = nil) throws -> Stage {
        let layers = (folder.map { [$0] } ?? []) + [fixtures]
        return try Stage(Emulator(fixtures: FixtureStore(layers: layers), loaders: loaders))
    }

    /// What a restart with a state file makes of a server.
    func restarted(_ stage: Stage) throws -> Stage { try stage.restarted(FixtureStore(layers: [fixtures]), loaders) }
}

extension Stage {
    /// What a restart with a state file makes of the server.
    public func restarted(
        _ fixtures: FixtureStore = Repository.fixtures, _ loaders: [VendorLoader] = Catalog.vendors
    ) throws -> Stage {
        // By its text, as a file would hold it.
        let saved = try JSON.parse(Array(emulator.exportState().prettyText.utf8), maximumDepth: Emulator.documentDepth)
        let next = try Emulator(fixtures: fixtures, loaders: loaders)
        try next.importState(FixtureNode(saved, from: "file"))
        return try Stage(next)
    }
}

/// A case with the vendor that it belongs to.
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
