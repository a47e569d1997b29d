package import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    /// The id of a response. Source: a sample in the vendor's documentation.
    static let requestID = Self("x-request-id") ?? .via
}

extension VendorLoader {
    /// Bloomreach Engagement, formerly Exponea.
    package static let bloomreach = VendorLoader(Bloomreach.self)
}

/// Bloomreach Engagement, a customer-data and messaging backend for mobile SDKs, with the streams of its Data hub.
///
/// It emulates what the SDKs, their example apps and the Python client call: tracking, attributes, consents, in-app
/// messages, content blocks, segments, recommendations, app inbox, self-check. It omits catalogs and analyses: their
/// paths answer `unknown-route`. It never delivers push notifications.
final class Bloomreach: Vendor {
    typealias State = BloomreachState
    typealias Failure = BloomreachFailure
    typealias Switches = BloomreachSwitches
    typealias Access = BloomreachAccess
    typealias Credentials = BloomreachFacts

    let accounts: BloomreachAccounts
    let content: BloomreachContent
    /// The shape of each failure, for responses to single commands of a batch.
    let failures: FailureCatalog<BloomreachFailure>
    /// Built once; sandboxes share it until they change it.
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
        // Leading slashes may repeat (observed: Android's base ends with one); no other path of the vendor has an empty
        // segment (exponea-android-sdk issue #50).
        pathRules: PathRules(repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false))

    /// The longest body of any call except a batch (ours): the vendor's bodies have a few hundred bytes.
    static let bodyLimit = 256 << 10

    static let unrouted = UnroutedFailures<BloomreachFailure>(
        routeNotFound: .unknownRoute, methodNotAllowed: .methodNotAllowed, bodyTooLarge: .bodyTooLarge)

    static let actions: [VendorAction<Bloomreach>] = trackingActions + contentActions

    static let routes: [Route<Bloomreach>] = trackingRoutes + dataRoutes + contentRoutes

    /// Sets `application/json` without parameters and a unique id on each response (documented sample).
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> BloomreachSwitches
    ) {
        response.fields[.requestID] = identifiers.uuid()
        if response.fields[.contentType]?.hasPrefix("application/json") == true {
            response.fields[.contentType] = "application/json"
        }
        // The switch that refuses POST leaves GET as the only method of such a path.
        if response.status == .methodNotAllowed, response.fields[.allow] == nil { response.fields[.allow] = "GET" }
        allowOrigin(on: &response, to: request, switches)
    }
}

/// A request to Bloomreach with what is known about its sender.
typealias BloomreachCall = Call<Bloomreach>
/// A request to Bloomreach, matched to its route.
typealias BloomreachArrival = Arrival<Bloomreach>
