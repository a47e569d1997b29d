import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

extension HTTPField.Name {
    static let rateLimit = Self("X-Rate-Limit-Limit") ?? .eTag
    static let rateRemaining = Self("X-Rate-Limit-Remaining") ?? .eTag
    static let rateReset = Self("X-Rate-Limit-Reset") ?? .eTag
}

/// Rate limits: counts in header fields of all answers but discovery and keys, which have no limit.
///
/// Source: docs, rate limits; the window of a minute and its quota are ours, by client and route.
extension Okta {
    /// Counts a request, and refuses it if the switch says so and the quota is used up.
    func countRequest(_ call: inout OktaCall, _ state: inout OktaState) {
        guard call.switches.rateLimit != .off, Self.hasRateLimit(call.route) else { return }
        let key = OktaRateWindow.Key(client: ExactText(clientID(of: call)), route: ExactText(call.route.id))
        let window = state.count(key, at: call.moment)
        let quota = call.switches.rateLimitQuota
        call.answerFields.append(HTTPField(name: .rateLimit, value: String(quota)))
        call.answerFields.append(HTTPField(name: .rateRemaining, value: String(max(0, quota - window.count))))
        call.answerFields.append(HTTPField(name: .rateReset, value: String(window.ends.wholeSeconds)))
        guard call.switches.rateLimit == .enforce else { return }
        refuse(&call, window, beyond: quota)
    }

    /// The limit precedes every other check, even those already made.
    private func refuse(_ call: inout OktaCall, _ window: OktaRateWindow, beyond quota: Int) {
        var findings = Findings<OktaFailure>()
        findings.add(
            Finding(
                "rate-limit", window.count > quota ? .failed : .passed,
                expected: .text("at most \(quota) requests of a client to \(window.routeID) within 60 s"),
                found: .text("request \(window.count) since \(Fact.time(window.began.unixSeconds))"),
                source: "docs, rate limits; switches rate-limit, rate-limit-quota"),
            orFail: .rateLimited)
        guard findings.failure != nil else { return }
        findings.note(call.findings.all)
        call.findings = findings
    }

    /// Says when to retry, even when an operator's rule refuses, which counts nothing: clients wait for that (observed,
    /// swift, kotlin).
    static func noteLimit(in response: inout Response, _ setting: FailureSetting<OktaFailure, OktaSwitches>) {
        response.fields[.rateLimit] = String(setting.switches.rateLimitQuota)
        response.fields[.rateRemaining] = "0"
        response.fields[.rateReset] = String((setting.moment + OktaRateWindow.length).wholeSeconds)
    }

    private static func hasRateLimit(_ route: Route<Okta>) -> Bool {
        switch route.id {
        case "keys.list", "discovery.org", "discovery.custom", "discovery.oauth", "preflight": false
        default: true
        }
    }

    /// The client as which the request counts, proven or not; only known ones, so that they are few.
    private func clientID(of call: OktaCall) -> String {
        if let client = call.credentials.client { return client.id }
        let named = call.credentials.parameters.unnoted["client_id"] ?? call.credentials.claims?["cid"]?.string
        return named.flatMap { call.arrival.authenticationContext.clients[$0]?.id } ?? ""
    }
}

/// The requests of a client to a route within a minute.
struct OktaRateWindow: Sendable, Equatable {
    /// Source: docs, rate limits.
    static let length = Duration.seconds(60)
    /// ours: clients and routes are few, so it is hardly reached.
    static let bound = RecordBound(count: 10_000)

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let client: ExactText
        let route: ExactText

        var description: String { JSON.array([client.json, route.json]).text }
    }

    /// Empty for callers that are no client of the fixtures, who share one window.
    var clientID = ""
    var routeID = ""
    var began = Moment(unixSeconds: 0)
    var count = 0

    var ends: Moment { began + Self.length }

    /// Whether it is the current one; it is not after the clock was moved back.
    func contains(_ moment: Moment) -> Bool { began <= moment && moment < ends }

    /// Counts a request, in a new window if this one is over.
    mutating func add(at moment: Moment) {
        if !contains(moment) { (began, count) = (moment, 0) }
        count = min(count + 1, Ordinal.largest)
    }
}

extension OktaRateWindow: KeyedRecord, CodedRecord {
    var key: Key { Key(client: ExactText(clientID), route: ExactText(routeID)) }

    func clash(over name: Never?) -> String { "\(routeID) has two windows of \(clientID)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("route", &routeID)
        coder.member("began", &began)
        coder.member("count", &count, in: 0...Ordinal.largest)
    }
}

extension OktaState {
    /// Counts a request.
    ///
    /// - Returns: the window that it falls into.
    mutating func count(_ key: OktaRateWindow.Key, at moment: Moment) -> OktaRateWindow {
        let counted = rateWindows.change(key) { window in
            window.add(at: moment)
            return window
        }
        if let counted { return counted }
        let window = OktaRateWindow(clientID: key.client.text, routeID: key.route.text, began: moment, count: 1)
        rateWindows.add(window, within: OktaRateWindow.bound)
        return window
    }
}
