public import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    /// The id of an answer. Source: a sample in the vendor's documents.
    static let requestID = Self("x-request-id") ?? .via
}

extension VendorLoader {
    /// Bloomreach Engagement, once Exponea.
    public static let bloomreach = VendorLoader(Bloomreach.self)
}

/// Bloomreach Engagement, a customer-data and messaging backend behind mobile SDKs, and the streams of its Data hub.
///
/// Emulated is what the SDKs, their example apps and the Python client call: tracking, attributes, consents, in-app
/// messages, content blocks, segments, recommendations, app inbox, self-check. Catalogs and analyses are not: their paths
/// answer `unknown-route`. No push notification is ever delivered.
final class Bloomreach: Vendor, MintsTokens, AnswersUnrouted, FinishesAnswers {
    typealias State = BloomreachState
    typealias Failure = BloomreachFailure
    typealias Switches = BloomreachSwitches
    typealias Access = BloomreachAccess
    typealias Credentials = BloomreachFacts

    let accounts: BloomreachAccounts
    let content: BloomreachContent
    /// How failures look, for the answers to single commands of a batch.
    let failures: FailureCatalog<BloomreachFailure>
    /// Made once: sandboxes share it until they change it.
    let initialState: BloomreachState
    let recentTokens = RecentReadings<BloomreachToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try BloomreachAccounts(fixtures)
        content = try BloomreachContent(fixtures, accounts)
        failures = try FailureCatalog(
            fixtures, scope: FailureScope(switches: BloomreachSwitches.declarations, routes: Self.routes.map(\.id)))
        initialState = BloomreachState(accounts, content)
    }

    static let identity = VendorIdentity(
        id: "bloomreach", title: "Bloomreach",
        prefixes: ["/track", "/data/v2", "/webxp", "/wxstatic", "/campaigns", "/optimization"],
        // Several slashes at the start are observed, Android's base ends with one; elsewhere an empty segment is none of
        // the vendor's paths (exponea-android-sdk issue #50).
        pathRules: PathRules(repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false))

    /// The longest content of all calls but a batch (ours): the vendor's bodies have some hundred bytes.
    static let bodyLimit = 256 << 10

    static let unrouted = UnroutedFailures<BloomreachFailure>(
        routeNotFound: .unknownRoute, methodNotAllowed: .methodNotAllowed, bodyTooLarge: .bodyTooLarge)

    static let actions: [VendorAction<Bloomreach>] = trackingActions + contentActions

    static let routes: [Route<Bloomreach>] = trackingRoutes + dataRoutes + contentRoutes

    /// Answers say `application/json` and no more, and each has an id of its own (documented sample).
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> BloomreachSwitches
    ) {
        response.fields[.requestID] = identifiers.uuid()
        if response.fields[.contentType]?.hasPrefix("application/json") == true {
            response.fields[.contentType] = "application/json"
        }
        // The switch that refuses POST leaves the one other method of such a path.
        if response.status == .methodNotAllowed, response.fields[.allow] == nil { response.fields[.allow] = "GET" }
        allowOrigin(on: &response, to: request, switches)
    }
}

/// A request to Bloomreach with what is known about its sender.
typealias BloomreachCall = Call<Bloomreach>
/// A request to Bloomreach that has found its route.
typealias BloomreachArrival = Arrival<Bloomreach>
